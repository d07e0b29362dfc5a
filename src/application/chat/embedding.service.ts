import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { CallTracker } from '../jobs/call-tracker.js';
import { RequestContext } from '../shared/ports.js';
import { requireReady } from './chat.service.js';
import { ChatRuntimes } from './ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

interface Input {
  readonly projectId: string;
  readonly request: EmbeddingRequest;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

@injectable()
export class EmbeddingService {
  constructor(
    private readonly reconciler: RuntimeReconciler,
    private readonly runtimes: ChatRuntimes,
    private readonly calls: CallTracker,
    private readonly context: RequestContext,
  ) {}

  /**
   * Returns the vectors of the texts, made by the project's model. Reserves memory for the vectors. Reads the desired
   * state of the runtime first, so that no instance answers after a stop. Throws NotFound, and what `requireReady`,
   * `ChatRuntimes.embed` and `RequestContext.reserve` throw.
   */
  async embed(by: Caller | null, { projectId, request, signal }: Input): Promise<Embeddings> {
    const caller = authorize(by, permissions.chat);
    const runtime = await this.reconciler.stateForTeam(caller.teamId, projectId);
    requireReady(runtime);
    const about = { by: caller, kind: 'embedding', name: null, projectId, modelId: runtime.modelId, signal } as const;
    const embeddings = await this.calls.track(
      about,
      (admitted) => this.runtimes.embed(projectId, request, { caller: caller.accountId, signal, admitted }),
      ({ promptTokens }) => ({ tokensIn: promptTokens, tokensOut: null, firstToken: null }),
    );
    await this.context.reserve(embeddings.vectors.reduce((bytes, { byteLength }) => bytes + byteLength, 0));
    return embeddings;
  }
}
