import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { UnknownModel } from '../../domain/chat/errors.js';
import type { ProjectRuntime, RuntimeSource } from '../../domain/chat/runtime.js';
import { DomainError, NotFound } from '../../domain/shared/errors.js';
import { unstorableLeaf } from '../../domain/shared/text.js';
import { Budget } from '../../domain/spend/budget.js';
import { Prices } from '../../domain/spend/prices.js';
import { Model } from '../../domain/workspace/model.js';
import { Logger } from '../shared/ports.js';
import { ModelRepository } from '../workspace/ports.js';
import type { InProject } from '../workspace/team-workspace.js';
import { ChatRuntimes, type ConnectedProject, type RuntimeConnection, RuntimeConnectionRepository } from './ports.js';

/** Names a project by its id, or as OpenAI's API names a model: by the project's id or name. */
export type NamedProject = InProject | { readonly model: string };

type Connected = Pick<RuntimeConnection, 'projectId' | 'modelId'>;

interface NamedRuntime {
  readonly projectId: string;
  readonly runtime: ProjectRuntime;
}

interface CalledRuntime extends NamedRuntime {
  /** True if the call is under budgets. */
  readonly hasBudgets: boolean;
  /** Null: the model has no price, or is not ready. */
  readonly prices: Prices | null;
}

/**
 * Makes the runtimes of this instance match the desired state in the database, and reports their state. Stores and
 * applies the changes of a project one after another, so that the last stored change is also the last applied change.
 */
@injectable()
export class RuntimeReconciler {
  /** The last reconciliation of each project, until it ends. */
  private readonly running = new Map<string, Promise<unknown>>();
  /** The reasons of failed starts, by project. */
  private readonly failures = new Map<string, string>();
  /** The models that run here, by project. Also has refused models, so that `applyAll` does not try them again. */
  private readonly held = new Map<string, string>();
  /** The prices of the models that run here, by project. A connected model is registered, so its prices never change. */
  private readonly prices = new Map<string, Prices | null>();

  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly models: ModelRepository,
    private readonly runtimes: ChatRuntimes,
    private readonly logger: Logger,
  ) {}

  /**
   * Runs `change`, which can store a new desired state, and returns its result. Resolves after this instance has applied
   * the stored state.
   */
  async apply<T>(projectId: string, change: () => Promise<T>): Promise<T> {
    const before = this.running.get(projectId) ?? Promise.resolve();
    const next = before
      .catch(() => undefined)
      .then(change)
      .then(async (changed) => {
        await this.reconcile(projectId);
        return changed;
      });
    this.running.set(projectId, next);
    try {
      return await next;
    } finally {
      if (this.running.get(projectId) === next) this.running.delete(projectId);
    }
  }

  /**
   * Begins to start the desired runtimes that do not run here, and to stop the runtimes that are not desired. Does not
   * wait for them, because a worker that hangs must not delay the others. Logs failures.
   */
  async applyAll(): Promise<void> {
    const held = [...this.held.keys()];
    const desired = new Map((await this.connections.started()).map((one) => [one.projectId, one.modelId]));
    const ended = held.filter((projectId) => !desired.has(projectId));
    const missing = [...desired.keys()].filter(
      (projectId) => this.held.get(projectId) !== desired.get(projectId) || this.running.has(projectId),
    );
    for (const projectId of [...ended, ...missing]) {
      this.apply(projectId, async () => undefined).catch((error: unknown) => {
        this.logger.error('runtime not started', { project_id: projectId, error });
      });
    }
  }

  /** Tells whether a desired runtime still loads on this instance. */
  async isLoading(): Promise<boolean> {
    return (await this.connections.started()).some((connection) => this.combined(connection).state === 'loading');
  }

  /** Returns the runtime of a project: its desired state, combined with its state on this instance. */
  async state(projectId: string): Promise<ProjectRuntime> {
    return this.combined(await this.connections.find(projectId));
  }

  /** Returns the runtimes in the order of the projects. */
  async states(projectIds: readonly string[]): Promise<ProjectRuntime[]> {
    const connections = new Map((await this.connections.ofProjects(projectIds)).map((one) => [one.projectId, one]));
    return projectIds.map((id) => this.combined(connections.get(id) ?? null));
  }

  /** Returns the runtime of a team's project, and the project's id. Throws NotFound, or UnknownModel for a `model`. */
  async stateForTeam(teamId: string, named: NamedProject): Promise<NamedRuntime> {
    const { projectId, connection } = await this.find(teamId, named);
    return { projectId, runtime: this.combined(connection) };
  }

  /** Returns also what a call of the caller costs, and whether it is under budgets. Throws what `stateForTeam` throws. */
  async stateForCall(caller: AccountCaller, named: NamedProject): Promise<CalledRuntime> {
    const { projectId, connection, hasBudgets } = await this.find(caller.teamId, named, Budget.scopesOf(caller));
    return { projectId, hasBudgets, runtime: this.combined(connection), prices: this.pricesOf(projectId) };
  }

  /** Returns the prices of the model that this instance runs for the project, or null. */
  pricesOf(projectId: string): Prices | null {
    return this.prices.get(projectId) ?? null;
  }

  /** Throws NotFound or InvalidRequest if the model cannot run, and TooManyProcesses if this instance has no room. */
  async requireStartable(connection: RuntimeConnection): Promise<void> {
    this.runtimes.requireRoom(connection.projectId, await this.source(connection));
  }

  /** Returns the data that the engine needs to run the connected model. Throws NotFound, InvalidRequest. */
  async source(connected: Connected): Promise<RuntimeSource> {
    return this.runtimes.source((await this.model(connected)).spec);
  }

  private async model({ projectId, modelId }: Connected): Promise<Model> {
    const model = await this.models.find(projectId, modelId);
    if (!model) throw new NotFound('model');
    Model.requireRegistered(model);
    return model;
  }

  private async find(teamId: string, named: NamedProject, scopes?: readonly string[]): Promise<ConnectedProject> {
    const found = await this.connected(teamId, named, scopes);
    if (!found) throw 'model' in named ? new UnknownModel() : new NotFound('project');
    return found;
  }

  private async connected(teamId: string, named: NamedProject, scopes?: readonly string[]) {
    if ('projectId' in named) return this.connections.ofProject(teamId, named.projectId, scopes);
    return unstorableLeaf(named.model) ? null : this.connections.ofModel(teamId, named.model, scopes);
  }

  private combined(connection: RuntimeConnection | null): ProjectRuntime {
    if (!connection) return { state: 'not_connected', modelId: null, reason: null };
    const { projectId, modelId, desired } = connection;
    if (desired === 'stopped') return { state: 'stopped', modelId, reason: null };
    const { state, reason, task } = this.runtimes.status(projectId);
    if (state !== 'stopped' && this.held.get(projectId) === modelId) return { state, modelId, reason, task };
    const failure = this.running.has(projectId) ? undefined : this.failures.get(projectId);
    return failure === undefined
      ? { state: 'loading', modelId, reason: null }
      : { state: 'unavailable', modelId, reason: failure };
  }

  private async reconcile(projectId: string): Promise<void> {
    const connection = await this.connections.find(projectId);
    this.failures.delete(projectId);
    if (connection?.desired === 'started') return this.start(connection);
    await this.runtimes.stop(projectId);
    this.held.delete(projectId);
    this.prices.delete(projectId);
  }

  private async start(connection: RuntimeConnection): Promise<void> {
    const { projectId, modelId } = connection;
    try {
      const { spec } = await this.model(connection);
      const source = await this.runtimes.source(spec);
      this.held.set(projectId, modelId); // not earlier, because the previous model may run until here
      this.prices.set(projectId, Prices.ofModel(spec));
      this.runtimes.start(projectId, source);
    } catch (error) {
      const isRefused = error instanceof DomainError;
      this.failures.set(projectId, isRefused ? error.message : 'the service failed to start it, and tries again');
      await this.runtimes.stop(projectId);
      if (isRefused) this.held.set(projectId, modelId);
      else this.held.delete(projectId);
      throw error;
    }
  }
}
