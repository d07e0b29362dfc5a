import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { RuntimeNotConnected } from '../../domain/chat/errors.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { Audit } from '../audit/audit.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { RuntimeConnectionRepository } from './ports.js';
import { RuntimeStates } from './runtime-states.js';
import { SettleRuntime } from './settle-runtime.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly wanted: 'started' | 'stopped';
}

/**
 * Starts or stops the connected model. A start returns while the model loads, and the runtime is started again with the
 * service; a stop returns once the process is gone, and the model stays connected.
 */
@injectable()
export class SwitchRuntime {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly connections: RuntimeConnectionRepository,
    private readonly runtime: SettleRuntime,
    private readonly states: RuntimeStates,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, RuntimeNotConnected; a start also InvalidRequest where the model's folder is gone. */
  async execute({ by, projectId, wanted }: Input): Promise<ProjectRuntime> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.workspace.project(caller, projectId);
    const connection = await this.connections.find(project.id);
    if (!connection) throw new RuntimeNotConnected('conflict');
    if (wanted === 'started') await this.runtime.source(connection);
    await this.runtime.execute(project.id, async () => {
      const kept = await this.audit.perform({ by: caller, action: `runtime.${wanted}`, object: project }, () =>
        this.connections.want(project.id, wanted),
      );
      if (!kept) throw new RuntimeNotConnected('conflict');
    });
    return this.states.of(project.id);
  }
}
