import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import type { Audit } from '../audit/audit.js';
import type { ProjectModels } from '../workspace/project-models.js';
import type { RuntimeConnections } from './ports/runtime-connections.js';
import type { RuntimeStates } from './runtime-states.js';
import type { SettleRuntime } from './settle-runtime.js';

/** Stops the runtime and leaves the project without one. */
export class DisconnectRuntime {
  constructor(
    private readonly found: ProjectModels,
    private readonly connections: RuntimeConnections,
    private readonly runtime: SettleRuntime,
    private readonly states: RuntimeStates,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string }): Promise<ProjectRuntime> {
    const caller = authorize(input.by, permissions.editWorkspace);
    const project = await this.found.project(caller, input.projectId);
    await this.runtime.execute(project.id, () =>
      this.audit.perform({ by: caller, action: 'runtime.disconnected', object: project }, () =>
        this.connections.remove(project.id),
      ),
    );
    return this.states.of(project.id);
  }
}
