import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { Audit } from '../audit/audit.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { RuntimeConnectionRepository } from './ports.js';
import { RuntimeStates } from './runtime-states.js';
import { SettleRuntime } from './settle-runtime.js';

/** Stops the runtime and leaves the project without one. */
@injectable()
export class DisconnectRuntime {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly connections: RuntimeConnectionRepository,
    private readonly runtime: SettleRuntime,
    private readonly states: RuntimeStates,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string }): Promise<ProjectRuntime> {
    const caller = authorize(input.by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, input.projectId);
    await this.runtime.execute(project.id, () =>
      this.audit.perform({ by: caller, action: 'runtime.disconnected', object: project }, () =>
        this.connections.remove(project.id),
      ),
    );
    return this.states.of(project.id);
  }
}
