import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { requireVersion } from '../../domain/workspace/project.js';
import type { Audit } from '../audit/audit.js';
import type { SettleRuntime } from '../chat/settle-runtime.js';
import type { Projects } from './ports/projects.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  /** Versions that the project must have; none: whichever it has. */
  readonly expected: readonly number[];
}

/** Removes a project with all that it holds, the frozen and the registered too. Its runtime ends with it. */
export class DeleteProject {
  constructor(
    private readonly found: ProjectModels,
    private readonly projects: Projects,
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
