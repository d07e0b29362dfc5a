import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ProjectRuntime } from '../../domain/chat/runtime.js';
import { TeamWorkspace } from '../workspace/team-workspace.js';
import { RuntimeStates } from './runtime-states.js';

@injectable()
export class ReadRuntime {
  constructor(
    private readonly workspace: TeamWorkspace,
    private readonly states: RuntimeStates,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string }): Promise<ProjectRuntime> {
    const caller = authorize(input.by, permissions.readWorkspace);
    const project = await this.workspace.project(caller, input.projectId);
    return this.states.of(project.id);
  }
}
