import type { RuntimeSource } from '../../domain/chat/runtime.js';
import { runtimeSpecOf, type UpstreamRules } from '../../domain/chat/runtime-spec.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import type { Models } from '../workspace/ports/models.js';
import type { ChatRuntimes } from './ports/chat-runtimes.js';
import type { ModelFolders } from './ports/model-folders.js';
import type { RuntimeConnection, RuntimeConnections } from './ports/runtime-connections.js';

/**
 * Makes the process of a project's runtime what the stored connection wants it to be. Every change writes the connection
 * first and settles then, one settling of a project after another, so that the last change stored is the one that holds
 * in the end, however many come at once.
 */
export class SettleRuntime {
  private readonly turns = new Map<string, Promise<void>>();
  private readonly failures = new Map<string, string>();

  constructor(
    private readonly connections: RuntimeConnections,
    private readonly models: Models,
    private readonly folders: ModelFolders,
    private readonly runtimes: ChatRuntimes,
    private readonly rules: UpstreamRules,
  ) {}

  /** True from the moment at which a change has begun until the process has been told of it. */
  isSettling(projectId: string): boolean {
    return this.turns.has(projectId);
  }

  /** Why the runtime could not be started here when that was last tried, or null. */
  failure(projectId: string): string | null {
    return this.failures.get(projectId) ?? null;
  }

  /** Runs `change`, which may write the connection, and makes the process what the connection then wants. */
  async execute(projectId: string, change: () => Promise<unknown> = async () => undefined): Promise<void> {
    const before = this.turns.get(projectId) ?? Promise.resolve();
    const turn = before
      .catch(() => undefined)
      .then(change)
      .then(() => this.settle(projectId));
    this.turns.set(projectId, turn);
    try {
      await turn;
    } finally {
      if (this.turns.get(projectId) === turn) this.turns.delete(projectId);
    }
  }

  /** What the connected model needs to run. Throws NotFound, InvalidRequest. */
  async source({ projectId, modelId }: Pick<RuntimeConnection, 'projectId' | 'modelId'>): Promise<RuntimeSource> {
    const model = await this.models.find(projectId, modelId);
    if (!model) throw new NotFound('model');
    const spec = runtimeSpecOf(model, this.rules);
    if (spec.kind === 'openai') return spec;
    const { path, ...rest } = spec;
    const folder = await this.folders.locate(path);
    if (!folder)
      throw new InvalidRequest([{ path: 'spec.path', message: 'must name a folder below the models folders' }]);
    return { ...rest, folder };
  }

  private async settle(projectId: string): Promise<void> {
    const connection = await this.connections.find(projectId);
    this.failures.delete(projectId);
    if (connection?.wanted !== 'started') return this.runtimes.stop(projectId);
    try {
      this.runtimes.start(projectId, await this.source(connection));
    } catch (error) {
      this.failures.set(projectId, (error as Error).message);
      throw error;
    }
  }
}
