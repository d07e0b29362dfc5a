import { injectable } from 'inversify';
import type { ChatRequest, TimedCompletion } from '../../domain/chat/chat.js';
import { AnswerOutOfFormat } from '../../domain/chat/errors.js';
import { Attempts } from '../../domain/jobs/attempt.js';
import { Prices } from '../../domain/spend/prices.js';
import type { CallFigures } from '../jobs/finished-call.js';
import { OwnCallTracker } from '../jobs/own-call-tracker.js';
import { MemoryBudget } from '../shared/memory-budget.js';
import { Clock, ServiceSettings } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { BudgetTimeOver, CallDeadline } from '../spend/call-deadline.js';
import { bounded, demandOf } from '../spend/chat-demand.js';
import { EarlyEnd } from '../spend/early-end.js';
import type { SpendScopes } from '../spend/ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';
import { TargetCalls } from './target-calls.js';

/** A chat of the service itself with a runtime, on behalf of an account. */
export interface OwnChat extends SpendScopes {
  readonly projectId: string;
  readonly request: ChatRequest;
  /** The id of the call, by `OwnCall.id`. */
  readonly callId: string;
}

export interface OwnCompletion extends TimedCompletion {
  /** The model that has answered. */
  readonly modelId: string | null;
}

/** Chats with runtimes on behalf of accounts. These chats have no jobs of their own. */
@injectable()
export class OwnChats {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: TargetCalls,
    private readonly guard: BudgetGuard,
    private readonly calls: OwnCallTracker,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Returns an answer and its latency in seconds without the time in the queue. Throws BudgetExceeded, and
   * what `TargetCalls.complete` throws, except AnswerOutOfFormat: returns the answer of this error instead.
   */
  async complete(call: OwnChat, signal: AbortSignal): Promise<OwnCompletion> {
    const { request, callId, ...scopes } = call;
    const { projectId, accountId } = scopes;
    const createdAt = this.clock.now();
    const prices = this.reconciler.pricesOf(projectId);
    const demand = async () => {
      const promptTokens = await this.runtimes.boundTokens(projectId, request, { caller: accountId, signal });
      return demandOf(request, {
        promptTokens,
        prices: Prices.dearest([...prices.values()]),
        mostMs: this.settings.inferenceTimeoutMs,
      });
    };
    const bounds = await this.guard.takeOwn({ ...scopes, callId, at: createdAt }, demand);
    const deadline = new CallDeadline(signal, bounds);
    const sent = bounded(request, bounds);
    const attempts = new Attempts(() => this.clock.now().getTime());
    const early = new EarlyEnd(sent, attempts, bounds);
    let startedAt: Date | null = null;
    const admitted = () => {
      startedAt = this.clock.now();
      deadline.begin();
    };
    const passed = () => Math.max(0, this.clock.now().getTime() - (startedAt ?? this.clock.now()).getTime());
    const memory = this.memory.open(accountId);
    const options = { caller: accountId, signal: deadline.signal, memory, attempts, admitted, made: early.made };
    const answered = () => prices.get(attempts.modelId ?? '') ?? null;
    let end: { figures?: CallFigures; error?: unknown } = {};
    try {
      const answer = this.runtimes.complete(projectId, sent, options);
      const completion = await answer.catch((error) => {
        if (error instanceof AnswerOutOfFormat) return error.completion;
        throw error;
      });
      const latency = passed() / 1000;
      end = { figures: { ...(await early.ofAnswer(completion.usage)), isCharged: true } };
      return { completion, latency, modelId: attempts.modelId };
    } catch (error) {
      const isCounted = startedAt !== null && (bounds !== null || answered() !== null);
      const isEarly = isCounted && (signal.aborted || error instanceof BudgetTimeOver);
      end = { error, ...(isEarly && { figures: await early.ofWhole() }) };
      throw error;
    } finally {
      deadline.end();
      const { modelId } = attempts;
      const hasLeft = signal.aborted && 'error' in end;
      const about = { ...scopes, callId, createdAt, startedAt, modelId, prices: answered(), bounds, hasLeft };
      await this.calls.end({ ...about, ...end });
      memory.close();
    }
  }
}
