import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { estimatedTextTokens } from '../../domain/chat/token-estimate.js';
import { Attempts } from '../../domain/jobs/attempt.js';
import { Prices } from '../../domain/spend/prices.js';
import { CallTracker } from '../jobs/call-tracker.js';
import type { CallFigures } from '../jobs/finished-call.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, ServiceSettings } from '../shared/ports.js';
import { BudgetGuard } from '../spend/budget-guard.js';
import { requireReady } from './require-ready.js';
import { type NamedProject, RuntimeReconciler } from './runtime-reconciler.js';
import { TargetCalls } from './target-calls.js';

interface Texts extends WithMemory {
  readonly request: EmbeddingRequest;
  /** Aborts when the caller disconnects or loses the permission. */
  readonly signal: AbortSignal;
}

type Input = NamedProject & Texts;

interface Embedded {
  readonly projectId: string;
  /** The model that has answered. */
  readonly modelId: string | null;
  readonly embeddings: Embeddings;
}

const figuresOf = (tokensIn: number | null): CallFigures => ({
  tokensIn,
  tokensOut: null,
  firstToken: null,
  isCharged: true,
});

const NO_ANSWER = { answers: 0, mostTokens: 0, isExact: true } as const;

@injectable()
export class EmbeddingService {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: TargetCalls,
    private readonly calls: CallTracker,
    private readonly guard: BudgetGuard,
    private readonly clock: Clock,
    private readonly settings: ServiceSettings,
  ) {}

  private get mostMs(): number {
    return this.settings.inferenceTimeoutMs;
  }

  /**
   * Returns the vectors of the texts, made by the project's model. Reserves memory for the vectors. Reads the desired
   * state of the runtime first, so that no instance answers after a stop. Throws what `RuntimeReconciler.stateForCall`,
   * `requireReady`, `TargetCalls.embed` and `Reservation.reserve` throw.
   */
  async embed(by: Caller | null, { request, signal, memory, ...named }: Input): Promise<Embedded> {
    const caller = authorize(by, permissions.chat);
    const { projectId, runtime, prices, hasBudgets, recording } = await this.reconciler.stateForCall(caller, named);
    requireReady(runtime);
    const { modelId } = runtime;
    const attempts = new Attempts(() => this.clock.now().getTime());
    const demand = async () => ({
      ...NO_ANSWER,
      promptTokens: await this.runtimes.boundTextTokens(projectId, request, { caller: caller.accountId, signal }),
      prices: Prices.dearest([...prices.values()]),
      mostMs: this.mostMs,
    });
    const take = (callId: string, at: Date) => this.guard.take({ by: caller, callId, at, projectId, demand });
    const guard = hasBudgets ? take : null;
    const content = () => ({ request: { texts: request.texts }, answer: null });
    const recordable = { recording, answerId: () => null, content };
    const about = { by: caller, kind: 'embedding', name: null, projectId, modelId, attempts, guard, signal } as const;
    const pricesOf = (answered: string | null) => prices.get(answered ?? '') ?? null;
    const embeddings = await this.calls.track(
      { ...about, pricesOf, recordable },
      async (admitted, { signal }) => {
        const options = { caller: caller.accountId, signal, memory, attempts, admitted };
        return this.runtimes.embed(projectId, request, options);
      },
      {
        figuresOf: ({ promptTokens }) => figuresOf(promptTokens),
        ifFailed: async (_error, isEarly, bounds) =>
          isEarly ? figuresOf(bounds?.promptTokens ?? Math.ceil(estimatedTextTokens(request.texts))) : undefined,
      },
    );
    await memory.reserve(embeddings.vectors.reduce((bytes, { byteLength }) => bytes + byteLength, 0));
    return { projectId, modelId: attempts.modelId, embeddings };
  }
}
