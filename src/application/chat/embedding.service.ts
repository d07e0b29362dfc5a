import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { estimatedTextTokens } from '../../domain/chat/token-estimate.js';
import { Attempts } from '../../domain/jobs/attempt.js';
import { type CallFigures, CallTracker } from '../jobs/call-tracker.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock } from '../shared/ports.js';
import { requireReady } from './chat.service.js';
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

@injectable()
export class EmbeddingService {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: TargetCalls,
    private readonly calls: CallTracker,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the vectors of the texts, made by the project's model. Reserves memory for the vectors. Reads the desired
   * state of the runtime first, so that no instance answers after a stop. Throws what `RuntimeReconciler.stateForTeam`,
   * `requireReady`, `TargetCalls.embed` and `Reservation.reserve` throw.
   */
  async embed(by: Caller | null, { request, signal, memory, ...named }: Input): Promise<Embedded> {
    const caller = authorize(by, permissions.chat);
    const { projectId, runtime, pricesOf } = await this.reconciler.stateForTeam(caller.teamId, named);
    requireReady(runtime);
    const { modelId } = runtime;
    const attempts = new Attempts(() => this.clock.now().getTime());
    const about = {
      by: caller,
      kind: 'embedding',
      name: null,
      projectId,
      modelId,
      attempts,
      pricesOf,
      signal,
    } as const;
    const options = { caller: caller.accountId, signal, memory, attempts };
    const embeddings = await this.calls.track(
      about,
      (admitted) => this.runtimes.embed(projectId, request, { ...options, admitted }),
      {
        figuresOf: ({ promptTokens }) => figuresOf(promptTokens),
        ifLeft: async () => figuresOf(Math.ceil(estimatedTextTokens(request.texts))),
      },
    );
    await memory.reserve(embeddings.vectors.reduce((bytes, { byteLength }) => bytes + byteLength, 0));
    return { projectId, modelId: attempts.modelId, embeddings };
  }
}
