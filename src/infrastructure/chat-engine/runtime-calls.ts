import type { Clock } from '../../application/shared/ports.js';
import { type ChatRequest, type Completion, mostTokens } from '../../domain/chat/chat.js';
import { ContextLengthExceeded, InferenceTimeout, RuntimeInvalidResponse } from '../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../domain/shared/errors.js';
import { FairQueue, type Turn, type WaitEstimate } from '../runtimes/fair-queue.js';
import type { RuntimeMeter } from '../runtimes/runtime-meter.js';
import type { CallReport, Order } from './protocol.js';

/**
 * Calls that may be counted beyond those that can get a place, so that a prompt which never fits is told so even when
 * the queue is full. Past these even the counting would be a queue without an end; and that is shared as the other one is.
 */
const COUNTED_BEYOND = 8;

export interface CallLimits {
  /** Calls that may wait for their turn. */
  readonly queue: number;
  readonly timeoutMs: number;
  /** How much longer than `timeoutMs` the process has to confirm that it dropped a call. */
  readonly graceMs: number;
}

/** A caller's request, until the process has answered it or has confirmed that it is dropped. */
interface Call {
  readonly id: number;
  readonly caller: string;
  readonly request: ChatRequest;
  readonly resolve: (completion: Completion) => void;
  readonly reject: (reason: unknown) => void;
  /** To be told when the process begins to work on it. */
  readonly admitted: () => void;
  /** Lets go of the caller's signal. */
  readonly release: () => void;
  stage: 'counting' | 'waiting' | 'running' | 'given_up';
  turn: Turn | null;
  readonly arrived: number;
  waitedMs: number;
  timer: NodeJS.Timeout;
}

/**
 * The calls to one process. Each is first counted by the process and refused when it can't fit; then it gets its turn,
 * waits for it, or is turned away.
 */
export class RuntimeCalls {
  private readonly calls = new Map<number, Call>();
  readonly turns: FairQueue;
  /** Calls that the process works on at once. */
  private atOnce = 1;
  private lastId = 0;

  constructor(
    private readonly limits: CallLimits,
    private readonly estimate: WaitEstimate,
    private readonly meter: RuntimeMeter,
    private readonly clock: Clock,
    private readonly send: (order: Order) => void,
    /** The process confirms nothing any more. */
    private readonly stuck: () => void,
  ) {
    this.turns = new FairQueue(this.atOnce, limits.queue, estimate);
  }

  /** The process is ready for so many calls at once. */
  open(atOnce: number): void {
    this.atOnce = atOnce;
    this.turns.resize(atOnce);
  }

  async complete(request: ChatRequest, caller: string, signal: AbortSignal, admitted = () => {}): Promise<Completion> {
    const most = this.atOnce + this.limits.queue + COUNTED_BEYOND;
    if (this.unplaced.length >= most && !this.makeRoom(caller)) throw this.turns.busy;
    return new Promise((resolve, reject) => {
      const abort = () => this.giveUp(call, signal.reason);
      const release = () => signal.removeEventListener('abort', abort);
      const timer = setTimeout(() => this.expire(call), this.limits.timeoutMs);
      const id = ++this.lastId;
      const given = { id, caller, request, admitted, arrived: this.now, waitedMs: 0 };
      const call: Call = { ...given, resolve, reject, release, stage: 'counting', turn: null, timer };
      signal.addEventListener('abort', abort);
      this.calls.set(call.id, call);
      this.send({ type: 'count', call: id, caller, request });
    });
  }

  receive(report: CallReport): void {
    const call = this.calls.get(report.call);
    if (!call) return;
    if (report.type === 'completed') this.answer(call, report);
    else if (report.type !== 'counted') this.end(call, refusal(call.request, report));
    else if (call.stage === 'counting') this.place(call, report.promptTokens);
  }

  /** The process said something about a call that is no report. */
  receiveNonsense(id: number): void {
    const call = this.calls.get(id);
    if (call) this.giveUp(call, new RuntimeInvalidResponse('its answer is not a completion.'));
  }

  /** The process is gone, or about to be. */
  fail(error: Error): void {
    for (const call of this.calls.values()) this.forget(call, error);
    this.calls.clear();
  }

  private place(call: Call, promptTokens: number): void {
    call.stage = 'waiting';
    call.turn = {
      caller: call.caller,
      tokens: promptTokens + mostTokens(call.request),
      begin: () => {
        call.stage = 'running';
        call.waitedMs = this.now - call.arrived;
        call.admitted();
        this.send({ type: 'generate', call: call.id });
      },
      refuse: (reason) => this.giveUp(call, reason),
    };
    this.turns.enter(call.turn);
  }

  private answer(call: Call, report: Extract<CallReport, { type: 'completed' }>): void {
    if (call.stage !== 'running') {
      // Where the answer crossed its own cancellation this changes nothing: `dropped` follows and ends the call.
      this.receiveNonsense(call.id);
      return;
    }
    const { text, finishReason, promptTokens, completionTokens, cachedTokens, firstTokenMs, tookMs } = report;
    const usage = { promptTokens, cachedTokens, completionTokens };
    this.estimate.record(tookMs);
    this.meter.answered({ usage, waitedMs: call.waitedMs, firstTokenMs, tookMs });
    call.resolve({ text, finishReason, usage });
    this.end(call, null, promptTokens + completionTokens);
  }

  private expire(call: Call): void {
    if (call.stage === 'running') this.estimate.record(this.limits.timeoutMs);
    call.timer = setTimeout(this.stuck, this.limits.graceMs);
    this.giveUp(call, new InferenceTimeout(this.limits.timeoutMs / 1_000));
  }

  /** The caller hears it now and the place is free now; the call itself stays until the process confirms. */
  private giveUp(call: Call, reason: unknown): void {
    const { stage } = call;
    if (stage === 'given_up') return;
    call.stage = 'given_up';
    call.release();
    call.reject(reason);
    this.send({ type: 'drop', call: call.id });
    this.leave(call, stage);
  }

  private end(call: Call, reason: unknown, tokens?: number): void {
    this.calls.delete(call.id);
    this.forget(call, reason);
    this.leave(call, call.stage, tokens);
  }

  private leave({ turn }: Call, stage: Call['stage'], tokens?: number): void {
    if (turn && stage === 'running') this.turns.leave(turn, tokens);
    else if (turn && stage === 'waiting') this.turns.giveUp(turn);
  }

  private forget(call: Call, reason: unknown): void {
    clearTimeout(call.timer);
    call.release();
    call.reject(reason);
  }

  private get now(): number {
    return this.clock.now().getTime();
  }

  /** Those that neither wait nor run, in order of arrival. */
  private get unplaced(): Call[] {
    return [...this.calls.values()].filter(({ stage }) => stage === 'counting' || stage === 'given_up');
  }

  /** Whoever has the most that are being counted loses the newest of them, to a caller who has at least two fewer. */
  private makeRoom(caller: string): boolean {
    const { unplaced } = this;
    const counts = new Map([[caller, 0]]);
    for (const { caller: one } of unplaced) counts.set(one, (counts.get(one) ?? 0) + 1);
    const own = counts.get(caller) ?? 0;
    const greedy = unplaced.filter(
      ({ caller: one, stage }) => stage === 'counting' && (counts.get(one) ?? 0) > own + 1,
    );
    const most = Math.max(...greedy.map(({ caller: one }) => counts.get(one) ?? 0));
    const newest = greedy.findLast(({ caller: one }) => counts.get(one) === most);
    if (newest) this.giveUp(newest, this.turns.busy);
    return newest !== undefined;
  }
}

function refusal(request: ChatRequest, report: Exclude<CallReport, { type: 'counted' | 'completed' }>): DomainError {
  switch (report.type) {
    case 'too_long':
      return ContextLengthExceeded.of({ ...report, maxTokens: request.maxTokens });
    case 'refused':
      return new InvalidRequest([{ path: 'messages', message: report.message }]);
    case 'failed':
      return new RuntimeInvalidResponse(report.reason);
    case 'dropped':
      return new RuntimeInvalidResponse('it dropped the call.');
  }
}
