import { injectable } from 'inversify';
import type { RuntimeSource } from '../../domain/chat/runtime.js';
import { DomainError, NotFound } from '../../domain/shared/errors.js';
import { Model } from '../../domain/workspace/model.js';
import { Ownership } from '../processes/ownership.js';
import { OtherProcesses } from '../processes/ports.js';
import { ModelRepository } from '../workspace/ports.js';
import { ChatRuntime, type RuntimeConnection, RuntimeConnectionRepository } from './ports.js';

/**
 * Makes the process of a project's runtime what the stored connection wants it to be. Every change writes the connection
 * first and settles then, one settling of a project after another, so that the last change stored is the one that holds
 * in the end, however many come at once. A runtime that is another process's is left to that one, which is told.
 */
@injectable()
export class SettleRuntime {
  private readonly turns = new Map<string, Promise<void>>();
  private readonly failures = new Map<string, string>();
  /** The runtimes that were started here, as this process's. */
  private readonly started = new Set<string>();

  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly models: ModelRepository,
    private readonly runtimes: ChatRuntime,
    private readonly ownership: Ownership,
    private readonly others: OtherProcesses,
  ) {}

  /** The projects whose runtimes were started here, or cannot be: those that failed otherwise are to be tried again. */
  held(): string[] {
    return [...this.started];
  }

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
    let owner: number | null = null;
    await this.inTurn(projectId, async () => {
      const before = await this.connections.find(projectId);
      await change();
      owner = (await this.settle(projectId)) ?? before?.process ?? null;
    });
    // Not within the turn, for which the other process might be waiting.
    if (owner !== null && owner !== (await this.ownership.own())) await this.others.settle(owner, projectId);
  }

  /** The same without a change, and without telling another process whose it may be. */
  settleHere(projectId: string): Promise<void> {
    return this.inTurn(projectId, async () => {
      await this.settle(projectId);
    });
  }

  private async inTurn(projectId: string, work: () => Promise<void>): Promise<void> {
    const before = this.turns.get(projectId) ?? Promise.resolve();
    const turn = before.catch(() => undefined).then(work);
    this.turns.set(projectId, turn);
    try {
      await turn;
    } finally {
      if (this.turns.get(projectId) === turn) this.turns.delete(projectId);
    }
  }

  /** Returns what the connected model needs to run. Throws NotFound, InvalidRequest. */
  async source({ projectId, modelId }: Pick<RuntimeConnection, 'projectId' | 'modelId'>): Promise<RuntimeSource> {
    const model = await this.models.find(projectId, modelId);
    if (!model) throw new NotFound('model');
    Model.requireRegistered(model);
    return this.runtimes.source(model.spec);
  }

  /** Returns whose it is in the end; null: nobody's. */
  private async settle(projectId: string): Promise<number | null> {
    const own = await this.ownership.own();
    for (;;) {
      const found = await this.connections.find(projectId);
      this.failures.delete(projectId);
      const owner = found?.process ?? null;
      const taken = owner !== null && owner !== own && !(await this.ownership.free([owner])).has(owner);
      if (taken || found?.wanted !== 'started') await this.stop(projectId);
      if (!found || taken || (found.wanted === 'stopped' && owner === null)) return owner;
      // As it is when it becomes this process's: from then on whoever changes it tells this one.
      const connection = await this.connections.claim(projectId, owner, found.wanted === 'started' ? own : null);
      if (connection && connection.wanted === found.wanted) {
        if (connection.process === own) await this.start(connection);
        return connection.process;
      }
    }
  }

  private async start(connection: RuntimeConnection): Promise<void> {
    const { projectId } = connection;
    this.started.add(projectId);
    try {
      this.runtimes.start(projectId, await this.source(connection));
    } catch (error) {
      const isRefused = error instanceof DomainError;
      this.failures.set(projectId, isRefused ? error.message : 'the service failed to start it, and tries again');
      if (!isRefused) this.started.delete(projectId);
      throw error;
    }
  }

  private async stop(projectId: string): Promise<void> {
    await this.runtimes.stop(projectId);
    this.started.delete(projectId);
  }
}
