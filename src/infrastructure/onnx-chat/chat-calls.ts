/** Manages the calls to one chat worker. A call is tokenized, waits for its turn, and is then generated or embedded. */
import type { CountCall, RuntimeCall } from '../../application/chat/ports.js';
import type { Clock, IdGenerator } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionPart, ToolCall, Usage } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { InferenceTimeout, RuntimeInvalidResponse, StreamNotRead } from '../../domain/chat/errors.js';
import { FairQueue, type Turn, type WaitEstimate } from '../chat-runtimes/fair-queue.js';
import type { RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import { type FirstOrder, floatsOf, type ReportOf, refusalOf, usageOf } from './call-reports.js';
import { PartBuffer } from './part-buffer.js';
import type { CallReport, Order, Part } from './protocol.js';

/**
 * This many more calls may be tokenized at once than fit into the slots and the queue. So a prompt that is too long is
 * refused as too long even if the queue is full.
 */
const EXTRA_TOKENIZED = 8;

/** The most characters of a streamed answer that wait for a slow reader. */
const MAX_UNREAD = 2 ** 20;

export interface CallLimits {
  /** Calls that may wait for their turn. */
  readonly queue: number;
  readonly timeoutMs: number;
  /** The time that the process has to confirm a cancelled call after its timeout. */
  readonly graceMs: number;
}

type Task = DistributiveOmit<FirstOrder, 'call' | 'caller'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

interface NewCall extends CountCall, Pick<RuntimeCall, 'admitted' | 'made'> {
  readonly take: (part: CompletionPart) => void;
  readonly embedded?: (embeddings: Embeddings) => void;
  readonly counted?: (promptTokens: number) => void;
  readonly reject: (reason: unknown) => void;
}

/** A call. It exists until the process has answered it or has confirmed its cancellation. */
interface Call extends NewCall {
  readonly id: number;
  readonly order: FirstOrder;
  readonly release: () => void;
  stage: 'tokenizing' | 'waiting' | 'running' | 'cancelled';
  turn: Turn | null;
  readonly arrived: number;
  waitedMs: number;
  timer: NodeJS.Timeout;
  promptTokens: number;
  /** Takes the tokens of a cancelled answer when the process reports them. */
  reportMade: (usage: Usage | null) => void;
}

export class ChatCalls {
  readonly queue: FairQueue;
  private readonly calls = new Map<number, Call>();
  /** Calls that the process can generate at once. */
  private slots = 1;
  private lastId = 0;

  constructor(
    private readonly limits: CallLimits,
    private readonly estimate: WaitEstimate,
    private readonly meter: RuntimeMeter,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly send: (order: Order) => void,
    /** Called when the process has not confirmed a cancelled call in time. */
    private readonly stuck: () => void,
  ) {
    this.queue = new FairQueue(this.slots, limits.queue, estimate);
  }

  /** Sets how many calls the process can generate at once. */
  open(slots: number): void {
    this.slots = slots;
    this.queue.resize(slots);
  }

  complete(request: ChatRequest, runtimeCall: RuntimeCall): Promise<Completion> {
    return new Promise((resolve, reject) => {
      const take = ({ end, toolCalls, ...answer }: CompletionPart) => {
        const calls = toolCalls?.map(({ index: _, ...call }) => call as ToolCall);
        if (end) resolve({ ...answer, ...(calls && { toolCalls: calls }), ...end });
      };
      this.begin({ type: 'tokenize', request, stream: false }, { ...runtimeCall, take, reject });
    });
  }

  embed({ texts }: EmbeddingRequest, runtimeCall: RuntimeCall): Promise<Embeddings> {
    return new Promise((embedded, reject) => {
      this.begin({ type: 'tokenize_texts', texts }, { ...runtimeCall, take: () => undefined, embedded, reject });
    });
  }

  count(task: Extract<Task, { type: 'count' | 'count_texts' }>, countCall: CountCall): Promise<number> {
    return new Promise((counted, reject) => {
      this.begin(task, { ...countCall, take: () => undefined, counted, reject });
    });
  }

  async *stream(request: ChatRequest, runtimeCall: RuntimeCall): AsyncGenerator<CompletionPart> {
    const { signal } = runtimeCall;
    const buffer = new PartBuffer(MAX_UNREAD);
    const take = (part: CompletionPart) => {
      if (!buffer.add(part)) this.cancel(call, new StreamNotRead());
    };
    const reject = (reason: unknown) => buffer.fail(reason);
    // A reader may be slower than the model, so the signal and the timeout still apply after the model has finished.
    const abort = () => reject(signal.reason);
    const call = this.begin({ type: 'tokenize', request, stream: true }, { ...runtimeCall, take, reject });
    const { timeoutMs } = this.limits;
    const timer = setTimeout(() => reject(new InferenceTimeout(timeoutMs / 1_000)), timeoutMs);
    signal.addEventListener('abort', abort);
    try {
      yield* buffer.parts();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (this.calls.has(call.id)) this.cancel(call, null);
    }
  }

  private begin(task: Task, newCall: NewCall): Call {
    const { caller, signal } = newCall;
    const id = ++this.lastId;
    const order = { ...task, call: id, caller };
    const most = this.slots + this.limits.queue + EXTRA_TOKENIZED;
    if (this.unplaced.length >= most && !this.makeRoom(caller)) throw this.queue.busy;
    const abort = () => this.cancel(call, signal.reason);
    const release = () => signal.removeEventListener('abort', abort);
    const timer = setTimeout(() => this.expire(call), this.limits.timeoutMs);
    const state = { stage: 'tokenizing', turn: null, arrived: this.now, waitedMs: 0, promptTokens: 0 } as const;
    const call: Call = { ...newCall, ...state, id, order, release, timer, reportMade: () => undefined };
    signal.addEventListener('abort', abort);
    this.calls.set(id, call);
    this.send(order);
    return call;
  }

  receive(report: CallReport): void {
    const call = this.calls.get(report.call);
    if (!call) return;
    if (report.type === 'completed') this.answer(call, report);
    else if (report.type === 'embedded') this.answerTexts(call, report);
    else if (report.type === 'counted') {
      call.counted?.(report.promptTokens);
      this.end(call);
    } else if (report.type !== 'tokenized') {
      if (report.type === 'cancelled') call.reportMade(usageOf(call.promptTokens, report));
      call.reject(refusalOf(call.order, report));
      this.end(call);
    } else if (call.stage === 'tokenizing') {
      call.promptTokens = report.promptTokens;
      this.enqueue(call, report.promptTokens + report.room);
    }
  }

  receivePart({ call: id, ...part }: Part): void {
    const call = this.calls.get(id);
    if (call?.stage === 'running' && call.order.type === 'tokenize' && call.order.stream)
      call.take({ ...part, ...this.named(part) });
    else this.receiveInvalid(id);
  }

  /** Cancels a call because the process sent an invalid message for it. */
  receiveInvalid(id: number): void {
    const call = this.calls.get(id);
    if (call) this.cancel(call, new RuntimeInvalidResponse('its answer is not a completion.'));
  }

  /** Rejects all calls, because the process is gone or about to end. */
  fail(error: Error): void {
    for (const call of this.calls.values()) {
      call.reportMade(null);
      call.reject(error);
      this.forget(call);
    }
    this.calls.clear();
  }

  private enqueue(call: Call, tokens: number): void {
    call.stage = 'waiting';
    call.turn = {
      caller: call.order.caller,
      tokens,
      begin: () => {
        call.stage = 'running';
        call.waitedMs = this.now - call.arrived;
        call.admitted?.();
        this.send({ type: 'generate', call: call.id });
      },
      refuse: (reason) => this.cancel(call, reason),
    };
    this.queue.enter(call.turn);
  }

  private answer(call: Call, report: ReportOf<'completed'>): void {
    const { text, logprobs, finishReason, stopText, promptTokens, completionTokens, cachedTokens } = report;
    const usage = { promptTokens, cachedTokens, completionTokens };
    if (call.stage !== 'running') {
      call.reportMade(usage);
      // `receiveInvalid` does nothing to a cancelled call. The report `cancelled` follows and ends that call.
      this.receiveInvalid(call.id);
      return;
    }
    call.made?.(Promise.resolve(usage));
    const timing = { firstTokenMs: report.firstTokenMs, tookMs: report.tookMs };
    this.estimate.record(timing.tookMs);
    this.meter.answered({ usage, waitedMs: call.waitedMs, betweenTokensMs: report.betweenTokensMs, ...timing });
    const content = { text, ...(logprobs && { logprobs }), ...this.named(report) };
    const end = { finishReason, ...(stopText !== undefined && { stopText }), usage, timing };
    call.take({ ...content, end });
    this.end(call, promptTokens + completionTokens);
  }

  /** Gives each new tool call an id. */
  private named({ toolCalls }: Pick<Part, 'toolCalls'>): Pick<CompletionPart, 'toolCalls'> {
    if (!toolCalls) return {};
    const id = (name?: string) => name !== undefined && { id: this.ids.next('call') };
    return { toolCalls: toolCalls.map((part) => ({ ...id(part.name), ...part })) };
  }

  private answerTexts(call: Call, { vectors, dimensions, promptTokens, tookMs }: ReportOf<'embedded'>): void {
    const { stage, order, embedded, waitedMs } = call;
    const count = order.type === 'tokenize_texts' ? order.texts.length : 0;
    const all = floatsOf(vectors);
    if (stage !== 'running' || !embedded || all.length !== count * dimensions) {
      this.receiveInvalid(call.id);
      return;
    }
    const usage = { promptTokens, cachedTokens: 0, completionTokens: 0 };
    this.estimate.record(tookMs);
    this.meter.answered({ usage, waitedMs, firstTokenMs: null, tookMs });
    const vectorOf = (_: unknown, i: number) => all.subarray(i * dimensions, (i + 1) * dimensions);
    embedded({ vectors: Array.from({ length: count }, vectorOf), promptTokens });
    this.end(call, promptTokens);
  }

  private expire(call: Call): void {
    if (call.stage === 'running') this.estimate.record(this.limits.timeoutMs);
    call.timer = setTimeout(this.stuck, this.limits.graceMs);
    this.cancel(call, new InferenceTimeout(this.limits.timeoutMs / 1_000));
  }

  /** Rejects the call and frees its slot at once. The call stays in `calls` until the process reports `cancelled`. */
  private cancel(call: Call, reason: unknown): void {
    const { stage } = call;
    if (stage === 'cancelled') return;
    call.stage = 'cancelled';
    call.release();
    // Before the rejection, after which the caller no longer waits.
    if (stage === 'running') call.made?.(new Promise((reportMade) => Object.assign(call, { reportMade })));
    call.reject(reason);
    this.send({ type: 'cancel', call: call.id });
    this.leaveQueue(call, stage);
  }

  private end(call: Call, tokens?: number): void {
    this.calls.delete(call.id);
    this.forget(call);
    this.leaveQueue(call, call.stage, tokens);
  }

  private leaveQueue({ turn }: Call, stage: Call['stage'], tokens?: number): void {
    if (turn && stage === 'running') this.queue.leave(turn, tokens);
    else if (turn && stage === 'waiting') this.queue.giveUp(turn);
  }

  private forget(call: Call): void {
    clearTimeout(call.timer);
    call.release();
  }

  private get now(): number {
    return this.clock.now().getTime();
  }

  /** Returns the calls that have neither a slot nor a place in the queue, in order of arrival. */
  private get unplaced(): Call[] {
    return [...this.calls.values()].filter(({ stage }) => stage === 'tokenizing' || stage === 'cancelled');
  }

  /**
   * Refuses the newest tokenizing call of the caller with the most unplaced calls, if `caller` has at least two fewer.
   */
  private makeRoom(caller: string): boolean {
    const { unplaced } = this;
    const counts = new Map<string, number>();
    for (const { order } of unplaced) counts.set(order.caller, (counts.get(order.caller) ?? 0) + 1);
    const countOf = ({ order }: Call) => counts.get(order.caller) ?? 0;
    const own = counts.get(caller) ?? 0;
    const candidates = unplaced.filter((call) => call.stage === 'tokenizing' && countOf(call) > own + 1);
    const most = Math.max(...candidates.map(countOf));
    const newest = candidates.findLast((call) => countOf(call) === most);
    if (newest) this.cancel(newest, this.queue.busy);
    return newest !== undefined;
  }
}
