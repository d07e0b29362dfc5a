import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { RuntimeNotConnected } from '../../domain/chat/errors.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { Authority } from '../accounts/authority.js';
import { type Act, Audit } from '../audit/audit.service.js';
import { type InProject, type OfModel, TeamWorkspace } from '../workspace/team-workspace.js';
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
   * Connects a registered model. The runtime is stopped at first. Does nothing if the model is already connected.
   * Throws NotFound, InvalidRequest.
   */
  async connect(by: Caller | null, { projectId, modelId }: OfModel): Promise<ProjectRuntime> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    await this.workspace.model(caller, projectId, modelId);
    await this.reconciler.source({ projectId, modelId });
    const act = { by: caller, action: 'runtime.connected', object: project, details: { model_id: modelId } } as const;
    await this.change(act, async () => {
      const connected = await this.connections.find(projectId);
      if (connected?.modelId === modelId) return false;
      await this.connections.save({ projectId, modelId, desired: 'stopped' });
      return true;
    });
    return this.reconciler.state(projectId);
  }

  /**
   * Starts the connected model on every instance. Returns before the model has loaded. Throws NotFound,
   * RuntimeNotConnected, InvalidRequest, TooManyProcesses.
   */
  start(by: Caller | null, input: InProject): Promise<ProjectRuntime> {
    return this.switch(by, input, 'started');
  }

  /** Stops the model everywhere. Returns when this instance has stopped it. Throws NotFound, RuntimeNotConnected. */
  stop(by: Caller | null, input: InProject): Promise<ProjectRuntime> {
    return this.switch(by, input, 'stopped');
  }

  /** Stops the runtime and leaves the project without a model. Throws NotFound. */
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
