import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { requireVersion } from '../../domain/workspace/project.js';
import { Audit } from '../audit/audit.js';
import { SettleRuntime } from '../chat/settle-runtime.js';
import { ProjectRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  /** Versions that the project must have; none: whichever it has. */
  readonly expected: readonly number[];
}

/** Removes a project with all that it holds, the frozen and the registered too. Its runtime ends with it. */
@injectable()
export class DeleteProject {
  constructor(
    private readonly found: ProjectModels,
    private readonly projects: ProjectRepository,
    private readonly runtime: SettleRuntime,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, StaleVersion. */
  async execute({ by, projectId, expected }: Input): Promise<void> {
    const caller = authorize(by, permissions.deleteProject);
    for (;;) {
      const current = await this.found.project(caller, projectId);
      requireVersion(current, expected);
      let removed = false;
      // The connection goes with the project, and the process with the connection.
      await this.runtime.execute(projectId, async () => {
        removed = await this.audit.perform({ by: caller, action: 'project.deleted', object: current }, () =>
          this.projects.remove(current),
        );
      });
      // A lost race means that the version has moved on: the next look at it tells.
      if (removed) return;
    }
  }
}
