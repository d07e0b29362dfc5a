import { injectable } from 'inversify';
import type { ChatRequest, TimedCompletion } from '../../domain/chat/chat.js';
import { AnswerOutOfFormat } from '../../domain/chat/errors.js';
import { Attempts } from '../../domain/jobs/attempt.js';
import { Demand, NOTHING } from '../../domain/spend/demand.js';
import { Prices } from '../../domain/spend/prices.js';
import { MemoryBudget } from '../shared/memory-budget.js';
import { Clock, ServiceSettings } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { BudgetTimeOver, CallDeadline } from '../spend/call-deadline.js';
import { bounded, demandOf } from '../spend/chat-demand.js';
import { EarlyEnd } from '../spend/early-end.js';
import type { SpendScopes } from '../spend/ports.js';
import { figuresOf } from './chat.service.js';
import { RuntimeReconciler } from './runtime-reconciler.js';
import { TargetCalls } from './target-calls.js';

/** A chat of the service itself with a runtime, on behalf of an account. */
export interface OwnCall extends SpendScopes {
  readonly projectId: string;
  readonly request: ChatRequest;
  /** Names the holds of the call. */
  readonly callId: string;
}

/** Chats with runtimes on behalf of accounts. These chats have no jobs of their own. */
@injectable()
export class OwnChats {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: TargetCalls,
    private readonly guard: BudgetGuard,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Returns an answer and its latency in seconds without the time in the queue. Throws BudgetExceeded, and
   * what `TargetCalls.complete` throws, except AnswerOutOfFormat: returns the answer of this error instead.
   */
  async complete(call: OwnCall, signal: AbortSignal): Promise<TimedCompletion> {
    const { request, callId, ...scopes } = call;
    const { projectId, accountId } = scopes;
    const prices = this.reconciler.pricesOf(projectId);
    const demand = async () => {
      const promptTokens = await this.runtimes.boundTokens(projectId, request, { caller: accountId, signal });
      return demandOf(request, {
        promptTokens,
        prices: Prices.dearest([...prices.values()]),
        mostMs: this.settings.inferenceTimeoutMs,
      });
    };
    const bounds = await this.guard.takeOwn(callId, scopes, demand);
    const deadline = new CallDeadline(signal, bounds);
    const sent = bounded(request, bounds);
    const attempts = new Attempts(() => this.clock.now().getTime());
    const early = new EarlyEnd(sent, attempts);
    let begun: number | null = null;
    const admitted = () => {
      begun = this.clock.now().getTime();
      deadline.begin();
    };
    const passed = () => Math.max(0, this.clock.now().getTime() - (begun ?? this.clock.now().getTime()));
    const memory = this.memory.open(accountId);
    const options = { caller: accountId, signal: deadline.signal, memory, attempts, admitted, made: early.made };
    const answered = () => prices.get(attempts.modelId ?? '') ?? null;
    let taken = NOTHING;
    try {
      const answer = this.runtimes.complete(projectId, sent, options);
      const completion = await answer.catch((error) => {
        if (error instanceof AnswerOutOfFormat) return error.completion;
        throw error;
      });
      const milliseconds = passed();
      taken = Demand.taken(answered(), { ...figuresOf(completion.usage), milliseconds }, true);
      return { completion, latency: milliseconds / 1000 };
    } catch (error) {
      const figures =
        bounds && begun !== null && (signal.aborted || error instanceof BudgetTimeOver) ? await early.ofWhole() : null;
      if (figures?.isCharged) taken = Demand.taken(answered(), { ...figures, milliseconds: passed() }, true);
      throw error;
    } finally {
      deadline.end();
      if (bounds) await this.guard.settle(callId, taken);
      memory.close();
    }
  }
}
