import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Projects } from './ports/projects.js';
import type { ProjectOverview, ProjectOverviews } from './project-overview.js';

interface Input {
  readonly by: Caller | null;
  readonly limit: number;
  /** The id of the project before the first one wanted. */
  readonly after: string | null;
}

export class ListProjects {
  constructor(
    private readonly projects: Projects,
    private readonly overviews: ProjectOverviews,
  ) {}

  /** The team's projects, newest first. */
  async execute({ by, limit, after }: Input): Promise<ProjectOverview[]> {
    const { teamId } = authorize(by, permissions.readWorkspace);
    return this.overviews.ofAll(await this.projects.all(teamId, { limit, after }));
  }
}
