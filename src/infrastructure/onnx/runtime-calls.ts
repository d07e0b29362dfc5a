import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
} from '../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../domain/shared/errors.js';
import type { CallReport, Order } from './protocol.js';
import type { WaitingTime } from './waiting-time.js';

/** Calls that a process works on at once. */
const AT_ONCE = 1;

/**
 * Calls that may be counted beyond those that can get a place, so that a prompt which never fits is told so even when
 * the queue is full. Past these even the counting would be a queue without an end.
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
  readonly request: ChatRequest;
  readonly resolve: (completion: Completion) => void;
  readonly reject: (reason: unknown) => void;
  /** Lets go of the caller's signal. */
  readonly release: () => void;
  stage: 'counting' | 'waiting' | 'running' | 'given_up';
  timer: NodeJS.Timeout;
}

/**
 * The calls to one process. Each is first counted by the process and refused when it can't fit; then it gets its turn in
 * order of arrival, waits for it, or is turned away.
 */
export class RuntimeCalls {
  /** In order of arrival. */
  private readonly calls = new Map<number, Call>();
  private lastId = 0;

  constructor(
    private readonly limits: CallLimits,
    private readonly waitingTime: WaitingTime,
    private readonly send: (order: Order) => void,
    /** The process confirms nothing any more. */
    private readonly stuck: () => void,
  ) {}

  async complete(request: ChatRequest, signal: AbortSignal): Promise<Completion> {
    const unplaced = this.at('counting').length + this.at('given_up').length;
    if (unplaced >= AT_ONCE + this.limits.queue + COUNTED_BEYOND) throw new ModelBusy(this.waitingTime.seconds);
    return new Promise((resolve, reject) => {
      const abort = () => this.giveUp(call, signal.reason);
      const release = () => signal.removeEventListener('abort', abort);
      const timer = setTimeout(() => this.expire(call), this.limits.timeoutMs);
      const call: Call = { id: ++this.lastId, request, resolve, reject, release, stage: 'counting', timer };
      signal.addEventListener('abort', abort);
      this.calls.set(call.id, call);
      this.send({ type: 'count', call: call.id, request });
    });
  }

  receive(report: CallReport): void {
    const call = this.calls.get(report.call);
    if (!call) return;
    if (report.type === 'completed') this.answer(call, report);
    else if (report.type !== 'counted') this.end(call, refusal(call.request, report));
    else if (call.stage === 'counting') this.place(call);
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

  private place(call: Call): void {
    if (this.at('running').length < AT_ONCE) this.run(call);
    else if (this.at('waiting').length < this.limits.queue) call.stage = 'waiting';
    else this.giveUp(call, new ModelBusy(this.waitingTime.seconds));
  }

  private run(call: Call): void {
    call.stage = 'running';
    this.send({ type: 'generate', call: call.id });
  }

  private answer(call: Call, report: Extract<CallReport, { type: 'completed' }>): void {
    if (call.stage !== 'running') {
      // Where the answer crossed its own cancellation this changes nothing: `dropped` follows and ends the call.
      this.receiveNonsense(call.id);
      return;
    }
    const { text, finishReason, promptTokens, completionTokens, tookMs } = report;
    this.waitingTime.record(tookMs);
    call.resolve({ text, finishReason, promptTokens, completionTokens });
    this.end(call, null);
  }

  private expire(call: Call): void {
    if (call.stage === 'running') this.waitingTime.record(this.limits.timeoutMs);
    call.timer = setTimeout(this.stuck, this.limits.graceMs);
    this.giveUp(call, new InferenceTimeout(this.limits.timeoutMs / 1_000));
  }

  /** The caller hears it now and the place is free now; the call itself stays until the process confirms. */
  private giveUp(call: Call, reason: unknown): void {
    if (call.stage === 'given_up') return;
    call.stage = 'given_up';
    call.release();
    call.reject(reason);
    this.send({ type: 'drop', call: call.id });
    this.advance();
  }

  private end(call: Call, reason: unknown): void {
    this.calls.delete(call.id);
    this.forget(call, reason);
    this.advance();
  }

  private forget(call: Call, reason: unknown): void {
    clearTimeout(call.timer);
    call.release();
    call.reject(reason);
  }

  private advance(): void {
    const [next] = this.at('waiting');
    if (next && this.at('running').length < AT_ONCE) this.run(next);
  }

  private at(stage: Call['stage']): Call[] {
    return [...this.calls.values()].filter((call) => call.stage === stage);
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
