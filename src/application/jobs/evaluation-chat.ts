import { injectable } from 'inversify';
import { type ChatRequest, chatLimits } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { Evaluation, Result } from '../../domain/jobs/evaluation.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { atMost, storable } from '../../domain/shared/text.js';
import { ChatService } from '../chat/chat.service.js';
import { RuntimeReconciler } from '../chat/runtime-reconciler.js';
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
    private readonly reconciler: RuntimeReconciler,
    private readonly chats: ChatService,
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

  private async once(evaluation: Evaluation, request: ChatRequest, accountId: string, signal: AbortSignal) {
    await this.requireReady(evaluation);
    const { projectId } = evaluation;
    const { completion, latency } = await this.chats.completeOwn({ projectId, request, accountId }, signal);
    const { text, usage } = completion;
    const tokens = usage && { prompt: usage.promptTokens, completion: usage.completionTokens };
    return { output: storable(text), latency, tokens, error: null };
  }

  /** Throws a passing error while the runtime is not ready here, and EvaluationFailed when the team changed it. */
  private async requireReady({ projectId, modelId }: Evaluation): Promise<void> {
    const { state, reason, ...runtime } = await this.reconciler.state(projectId);
    if (runtime.modelId === null) throw new EvaluationFailed('The model was disconnected from the project.');
    if (runtime.modelId !== modelId) throw new EvaluationFailed(`Another model was connected: ${runtime.modelId}.`);
    if (state === 'stopped') throw new EvaluationFailed('The runtime was stopped.');
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(reason ?? 'it does not run');
  }
}

const unasked = (error: string): Answer => ({ output: null, latency: 0, tokens: null, error });
