import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { RuntimeNotConnected, UnknownTarget } from '../../domain/chat/errors.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { type NamedModel, Targets, type WantedTargets } from '../../domain/chat/target.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { Authority } from '../accounts/authority.js';
import { type Act, Audit } from '../audit/audit.service.js';
import { type InProject, TeamWorkspace } from '../workspace/team-workspace.js';
import { type RuntimeConnection, RuntimeConnectionRepository } from './ports.js';
import { RuntimeReconciler } from './runtime-reconciler.js';

@injectable()
export class RuntimeService {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly connections: RuntimeConnectionRepository,
    private readonly reconciler: RuntimeReconciler,
    private readonly authority: Authority,
    private readonly audit: Audit,
  ) {}

  /** Returns the runtime of a project as it is on this instance. Throws NotFound. */
  async read(by: Caller | null, { projectId }: InProject): Promise<ProjectRuntime> {
    const project = await this.workspace.project(authorize(by, permissions.readWorkspace), projectId);
    return this.reconciler.state(project.id);
  }

  /**
   * Connects registered models. Does nothing if they are already connected in this way. A runtime with another model than
   * before is stopped at first. If only its fallbacks or weights change, it stays as it is, and starts new targets if it is
   * started. Throws InvalidRequest, NotFound, TooManyProcesses.
   */
  async connect(by: Caller | null, { projectId, ...wanted }: InProject & WantedTargets): Promise<ProjectRuntime> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const targets = Targets.of(wanted);
    for (const named of Targets.named(targets)) await this.requireUsable(projectId, named);
    const act = { by: caller, action: 'runtime.connected', object: project, details: detailsOf(targets) } as const;
    await this.change(act, async () => {
      const connected = await this.connections.find(projectId);
      if (connected && Targets.isSame(connected, targets)) return false;
      const desired = connected?.modelId === targets.modelId ? connected.desired : 'stopped';
      const connection = { projectId, ...targets, desired };
      if (desired === 'started') await this.reconciler.requireStartable(connection);
      await this.connections.save(connection);
      return true;
    });
    return this.reconciler.state(projectId);
  }

  /** Throws NotFound or InvalidRequest, which name the field, if the model cannot be a target of the project. */
  private async requireUsable(projectId: string, { path, modelId }: NamedModel): Promise<void> {
    try {
      await this.reconciler.source({ projectId, modelId });
    } catch (error) {
      if (path === 'model_id') throw error;
      if (error instanceof NotFound) throw new UnknownTarget(path);
      if (!(error instanceof InvalidRequest)) throw error;
      const message = `names a model that cannot be connected: ${error.message}`;
      throw new InvalidRequest([{ path, message }]);
    }
  }

  /**
   * Starts the connected models on every instance. Returns before they have loaded. Throws NotFound,
   * RuntimeNotConnected, InvalidRequest, TooManyProcesses.
   */
  start(by: Caller | null, input: InProject): Promise<ProjectRuntime> {
    return this.switch(by, input, 'started');
  }

  /** Stops the models everywhere. Returns when this instance has stopped them. Throws NotFound, RuntimeNotConnected. */
  stop(by: Caller | null, input: InProject): Promise<ProjectRuntime> {
    return this.switch(by, input, 'stopped');
  }

  /** Stops the runtime and leaves the project without models. Throws NotFound. */
  async disconnect(by: Caller | null, { projectId }: InProject): Promise<ProjectRuntime> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    await this.change({ by: caller, action: 'runtime.disconnected', object: project }, () =>
      this.connections.remove(projectId),
    );
    return this.reconciler.state(projectId);
  }

  private async switch(
    by: Caller | null,
    { projectId }: InProject,
    desired: RuntimeConnection['desired'],
  ): Promise<ProjectRuntime> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const connection = await this.connections.find(projectId);
    if (!connection) throw new RuntimeNotConnected('conflict');
    if (desired === 'started') await this.reconciler.requireStartable(connection);
    const stored = await this.change({ by: caller, action: `runtime.${desired}`, object: project }, () =>
      this.connections.setDesired(projectId, desired),
    );
    if (!stored) throw new RuntimeNotConnected('conflict');
    return this.reconciler.state(projectId);
  }

  /** Waits for earlier changes of the runtime. Then authorizes the caller again, runs `work` and returns its result. */
  private change(act: Act & { readonly by: Caller }, work: () => Promise<boolean>): Promise<boolean> {
    return this.reconciler.apply(act.object.id, () =>
      this.audit.perform(act, async () => {
        await this.authority.confirm(act.by, permissions.editWorkspace);
        return work();
      }),
    );
  }
}

/** Returns the targets as the audit trail shows them, for example with `split: "mdl_1 9, mdl_2 1"`. */
const detailsOf = ({ modelId, fallbacks, split }: Targets) => ({
  model_id: modelId,
  fallbacks: fallbacks.length > 0 ? fallbacks.join(', ') : undefined,
  split: split?.map((one) => `${one.modelId} ${one.weight}`).join(', '),
});
