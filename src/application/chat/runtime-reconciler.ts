import { injectable } from 'inversify';
import type { AccountCaller } from '../../domain/accounts/caller.js';
import { KeyScope } from '../../domain/accounts/key-scope.js';
import { UnknownModel } from '../../domain/chat/errors.js';
import type { ProjectRuntime, RuntimeSource, RuntimeStatus, TargetStatus } from '../../domain/chat/runtime.js';
import { RuntimeId, Targets } from '../../domain/chat/target.js';
import { Recording } from '../../domain/record/recording.js';
import { DomainError, NotFound } from '../../domain/shared/errors.js';
import { unstorableLeaf } from '../../domain/shared/text.js';
import { Budget } from '../../domain/spend/budget.js';
import { Prices } from '../../domain/spend/prices.js';
import { Model } from '../../domain/workspace/model.js';
import { Logger } from '../shared/ports.js';
import { ModelRepository } from '../workspace/ports.js';
import type { InProject, OfModel } from '../workspace/team-workspace.js';
import { Breakers } from './breakers.js';
import { ChatRuntimes, type ConnectedProject, type RuntimeConnection, RuntimeConnectionRepository } from './ports.js';

/** Names a project by its id, or as OpenAI's API names a model: by the project's id or name. */
export type NamedProject = InProject | { readonly model: string };

/** The prices of models by their ids. A model without prices is missing. */
type PricesByModel = ReadonlyMap<string, Prices>;

const NO_PRICES: PricesByModel = new Map();

interface NamedRuntime {
  readonly projectId: string;
  readonly runtime: ProjectRuntime;
}

interface CalledRuntime extends NamedRuntime {
  /** True if the call is under budgets. */
  readonly hasBudgets: boolean;
  readonly prices: PricesByModel;
  /** The settings by which the project keeps the call. */
  readonly recording: Recording;
}

/**
 * Makes the runtimes of this instance match the desired state in the database, and reports their state. Stores and
 * applies the changes of a project one after another, so that the last stored change is also the last applied change.
 */
@injectable()
export class RuntimeReconciler {
  /** The last reconciliation of each project, until it ends. */
  private readonly running = new Map<string, Promise<unknown>>();
  /** The reasons of failed starts, by the ids of runtimes. */
  private readonly failures = new Map<string, string>();
  /** The targets that run here, by project. Also has refused targets, so that `applyAll` does not try them again. */
  private readonly held = new Map<string, Targets>();
  /** The prices of the targets that run here, by project. A connected model is registered, so its prices never change. */
  private readonly prices = new Map<string, PricesByModel>();
  /** The projects with a target that failed to start for another reason than a refusal. `applyAll` tries them again. */
  private readonly incomplete = new Set<string>();

  constructor(
    private readonly connections: RuntimeConnectionRepository,
    private readonly models: ModelRepository,
    private readonly runtimes: ChatRuntimes,
    private readonly breakers: Breakers,
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
    const desired = await this.connections.started();
    const started = new Set(desired.map(({ projectId }) => projectId));
    const ended = held.filter((projectId) => !started.has(projectId));
    const missing = desired.filter((one) => this.running.has(one.projectId) || !this.holds(one));
    for (const projectId of [...ended, ...missing.map((one) => one.projectId)]) {
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

  /**
   * Returns the runtime of a project of the caller's team, and the project's id. Throws NotFound, or UnknownModel for a
   * `model`, and KeyRestricted if the caller's key is for other projects.
   */
  async stateForTeam(caller: AccountCaller, named: NamedProject): Promise<NamedRuntime> {
    const { projectId, connection } = await this.find(caller, named);
    return { projectId, runtime: this.combined(connection) };
  }

  /** Returns also what a call of the caller costs, and whether it is under budgets. Throws what `stateForTeam` throws. */
  async stateForCall(caller: AccountCaller, named: NamedProject): Promise<CalledRuntime> {
    const { projectId, connection, hasBudgets, record } = await this.find(caller, named, Budget.scopesOf(caller));
    const known = { projectId, hasBudgets, recording: Recording.of({ record }) };
    return { ...known, runtime: this.combined(connection), prices: this.pricesOf(projectId) };
  }

  /** Returns the prices of the targets that this instance runs for the project. */
  pricesOf(projectId: string): PricesByModel {
    return this.prices.get(projectId) ?? NO_PRICES;
  }

  /** Returns the targets that this instance runs for the project. Null if it runs none. */
  targets(projectId: string): Targets | null {
    return this.held.get(projectId) ?? null;
  }

  /** Returns the smallest context of the targets that this instance runs for the project. Null if none is known. */
  context(projectId: string): number | null {
    const held = this.held.get(projectId);
    const known = (held ? Targets.ids(held) : []).flatMap(
      (modelId) => this.runtimes.status(RuntimeId.of(projectId, modelId)).context ?? [],
    );
    return known.length > 0 ? Math.min(...known) : null;
  }

  /** Throws NotFound or InvalidRequest if a model cannot run, and TooManyProcesses if this instance has no room. */
  async requireStartable(connection: RuntimeConnection): Promise<void> {
    const { projectId } = connection;
    for (const modelId of Targets.ids(connection))
      this.runtimes.requireRoom(RuntimeId.of(projectId, modelId), await this.source({ projectId, modelId }));
  }

  /** Returns the data that the engine needs to run the connected model. Throws NotFound, InvalidRequest. */
  async source(target: OfModel): Promise<RuntimeSource> {
    return (await this.pricedSource(target)).source;
  }

  private async pricedSource(
    target: OfModel,
  ): Promise<{ readonly source: RuntimeSource; readonly prices: Prices | null }> {
    const { spec } = await this.model(target);
    return { source: await this.runtimes.source(spec), prices: Prices.ofModel(spec) };
  }

  private async model({ projectId, modelId }: OfModel): Promise<Model> {
    const model = await this.models.find(projectId, modelId);
    if (!model) throw new NotFound('model');
    Model.requireRegistered(model);
    return model;
  }

  private async find(
    caller: AccountCaller,
    named: NamedProject,
    scopes?: readonly string[],
  ): Promise<ConnectedProject> {
    const found = await this.connected(caller.teamId, named, scopes);
    if (!found) throw 'model' in named ? new UnknownModel() : new NotFound('project');
    KeyScope.requireProject(caller, found.projectId);
    return found;
  }

  private async connected(teamId: string, named: NamedProject, scopes?: readonly string[]) {
    if ('projectId' in named) return this.connections.ofProject(teamId, named.projectId, scopes);
    return unstorableLeaf(named.model) ? null : this.connections.ofModel(teamId, named.model, scopes);
  }

  private combined(connection: RuntimeConnection | null): ProjectRuntime {
    if (!connection) return NOT_CONNECTED;
    const { modelId, fallbacks, split } = connection;
    const seen = Targets.ids(connection).map((id) => this.target(connection, id));
    const targets = seen.map(({ task: _, ...target }) => target);
    const known = { modelId, fallbacks, split, targets };
    if (connection.desired === 'stopped') return { state: 'stopped', ...known, reason: null };
    const best = (['ready', 'loading', 'unavailable'] as const).find((one) => seen.some(({ state }) => state === one));
    const state = best ?? 'loading';
    const { reason = null } = seen.find((one) => one.state === state) ?? {};
    return { state, ...known, reason, task: seen.find(({ task }) => task)?.task };
  }

  private target(connection: RuntimeConnection, modelId: string): TargetStatus & Pick<RuntimeStatus, 'task'> {
    const id = RuntimeId.of(connection.projectId, modelId);
    const { state: breaker, retryAfterSeconds } = this.breakers.read(id);
    const known = { modelId, share: Targets.share(connection, modelId), breaker, retryAfterSeconds };
    if (connection.desired === 'stopped') return { ...known, state: 'stopped', reason: null };
    const { state, reason, task } = this.runtimes.status(id);
    if (state !== 'stopped' && this.runs(connection, modelId)) return { ...known, state, reason, task };
    const failure = this.running.has(connection.projectId) ? undefined : this.failures.get(id);
    return failure === undefined
      ? { ...known, state: 'loading', reason: null }
      : { ...known, state: 'unavailable', reason: failure };
  }

  /** Tells whether this instance runs exactly these targets. */
  private holds(connection: RuntimeConnection): boolean {
    const held = this.held.get(connection.projectId);
    return held !== undefined && Targets.isSame(held, connection) && !this.incomplete.has(connection.projectId);
  }

  private runs({ projectId }: RuntimeConnection, modelId: string): boolean {
    const held = this.held.get(projectId);
    return held !== undefined && Targets.ids(held).includes(modelId);
  }

  private async reconcile(projectId: string): Promise<void> {
    const connection = await this.connections.find(projectId);
    const started = connection?.desired === 'started' ? connection : null;
    const held = this.held.get(projectId);
    const wanted = started ? Targets.ids(started) : [];
    const ended = (held ? Targets.ids(held) : []).filter((modelId) => !wanted.includes(modelId));
    for (const modelId of [...ended, ...wanted]) this.failures.delete(RuntimeId.of(projectId, modelId));
    await Promise.all(ended.map((modelId) => this.stopTarget(RuntimeId.of(projectId, modelId))));
    if (started) return this.start(started);
    this.held.delete(projectId);
    this.prices.delete(projectId);
    this.incomplete.delete(projectId);
  }

  /** Starts the targets. A target that cannot start does not keep the others from starting. Throws if none can start. */
  private async start(connection: RuntimeConnection): Promise<void> {
    const { projectId, modelId: first, fallbacks, split } = connection;
    const ids = Targets.ids(connection);
    const models = await Promise.allSettled(ids.map((modelId) => this.pricedSource({ projectId, modelId })));
    this.held.set(projectId, { modelId: first, fallbacks, split }); // not earlier, because previous targets may run until here
    const priced = models.flatMap((model, i) =>
      model.status === 'fulfilled' && model.value.prices ? [[ids[i] as string, model.value.prices] as const] : [],
    );
    this.prices.set(projectId, new Map(priced));
    this.incomplete.delete(projectId);
    const errors: unknown[] = [];
    for (const [i, modelId] of ids.entries()) {
      const id = RuntimeId.of(projectId, modelId);
      const model = models[i] as (typeof models)[number];
      try {
        if (model.status === 'rejected') throw model.reason;
        this.runtimes.start(id, model.value.source);
      } catch (error) {
        errors.push(error);
        await this.refuse(projectId, id, error);
      }
    }
    if (errors.length === ids.length) throw errors[0];
    for (const error of errors) this.logger.error('runtime not started', { project_id: projectId, error });
  }

  private async refuse(projectId: string, id: string, error: unknown): Promise<void> {
    const isRefused = error instanceof DomainError;
    this.failures.set(id, isRefused ? error.message : 'the service failed to start it, and tries again');
    if (!isRefused) this.incomplete.add(projectId);
    await this.stopTarget(id);
  }

  private async stopTarget(id: string): Promise<void> {
    await this.runtimes.stop(id);
    this.breakers.forget(id);
  }
}

const NOT_CONNECTED: ProjectRuntime = {
  state: 'not_connected',
  modelId: null,
  fallbacks: [],
  split: null,
  targets: [],
  reason: null,
};
