import { injectable } from 'inversify';
import { type ChatRequest, chatLimits } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { Evaluation, Result } from '../../domain/jobs/evaluation.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { atMost, storable } from '../../domain/shared/text.js';
import { CompleteHere } from '../chat/complete-here.js';
import { RuntimeStates } from '../chat/runtime-states.js';
import { Ownership } from '../processes/ownership.js';
import { OtherProcesses } from '../processes/ports.js';
import { Clock, Delay, Logger } from '../shared/ports.js';

/** The evaluation cannot go on. The message says why. */
export class EvaluationFailed extends Error {}

/** Limits the wait of a record for a model that is busy, loading or out of order. */
const RETRY_MS = 180_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Errors worth a retry. */
const transient: readonly ErrorKind[] = ['busy', 'bad_gateway', 'unavailable', 'timeout'];

/** The record's own fault, whoever finds it. */
const TOO_LONG = 'context_length_exceeded';

type Answer = Pick<Result, 'output' | 'latency' | 'tokens' | 'error'>;

/** Chats with the runtime of a project on behalf of one of its callers, and retries with back-off. */
@injectable()
export class EvaluationChat {
  constructor(
    private readonly states: RuntimeStates,
    private readonly here: CompleteHere,
    private readonly others: OtherProcesses,
    private readonly ownership: Ownership,
    private readonly pauses: Delay,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Throws EvaluationFailed if there is no answer in time, or can be none. */
  async ask(evaluation: Evaluation, request: ChatRequest, caller: string, signal: AbortSignal): Promise<Answer> {
    if (!request.messages.every(({ content }) => atMost(content, chatLimits.messageLength)))
      return unasked(`It is longer than the ${chatLimits.messageLength} characters of a message.`);
    const until = this.clock.now().getTime() + RETRY_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await this.once(evaluation, request, caller, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DomainError)) throw error;
        if (error.code === TOO_LONG) return unasked(error.message);
        const wait = Math.max(pause, 1000 * (error.advice.retryAfterSeconds ?? 0));
        const hopeless = !transient.includes(error.kind) || this.clock.now().getTime() + wait > until;
        if (hopeless) throw new EvaluationFailed(`${error.code}: ${error.message}`);
        this.log.warn('an evaluation waits for its model', { code: error.code, wait_ms: wait });
        await this.pauses.take(wait, signal);
      }
    }
  }

  private async once(evaluation: Evaluation, request: ChatRequest, caller: string, signal: AbortSignal) {
    const { projectId } = evaluation;
    const process = await this.ready(evaluation);
    const call = { projectId, request, caller };
    const isHere = process === null || process === (await this.ownership.own());
    const told = isHere ? await this.here.execute(call, signal) : await this.others.complete(process, call, signal);
    if (!told) throw await this.ownership.elsewhere(process as number);
    const { text, usage } = told.completion;
    const tokens = usage && { prompt: usage.promptTokens, completion: usage.completionTokens };
    return { output: storable(text), latency: told.latency, tokens, error: null };
  }

  /** Returns the instance that owns the runtime. Throws a transient error, or EvaluationFailed after a change by the team. */
  private async ready({ projectId, modelId }: Evaluation): Promise<number | null> {
    const { state, process = null, reason, ...runtime } = await this.states.of(projectId);
    if (runtime.modelId === null) throw new EvaluationFailed('The model was disconnected from the project.');
    if (runtime.modelId !== modelId) throw new EvaluationFailed(`Another model was connected: ${runtime.modelId}.`);
    if (state === 'stopped') throw new EvaluationFailed('The runtime was stopped.');
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
    return process;
  }
}

const unasked = (error: string): Answer => ({ output: null, latency: 0, tokens: null, error });
