import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { Audit } from '../audit/audit.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { RuntimeConnectionRepository } from './ports.js';
import { RuntimeStates } from './runtime-states.js';
import { SettleRuntime } from './settle-runtime.js';

/** Makes a registered model the project's runtime, stopped at first. Connecting the connected model changes nothing. */
@injectable()
export class ConnectRuntime {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly connections: RuntimeConnectionRepository,
    private readonly runtime: SettleRuntime,
    private readonly states: RuntimeStates,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, InvalidRequest. */
  async execute(input: { by: Caller | null; projectId: string; modelId: string }): Promise<ProjectRuntime> {
    const caller = authorize(input.by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, input.projectId);
    const { id: modelId } = await this.workspace.model(caller, project.id, input.modelId);
    await this.runtime.source({ projectId: project.id, modelId });
    const act = { by: caller, action: 'runtime.connected', object: project, details: { model_id: modelId } } as const;
    await this.runtime.execute(project.id, () =>
      this.audit.perform(act, async () => {
        const connected = await this.connections.find(project.id);
        if (connected?.modelId === modelId) return false;
        await this.connections.save({ projectId: project.id, modelId, wanted: 'stopped' });
        return true;
      }),
    );
    return this.states.of(project.id);
  }
}
