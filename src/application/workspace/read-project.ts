import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { Projects } from './ports/projects.js';
import type { ProjectOverview, ProjectOverviews } from './project-overview.js';

export class ReadProject {
  constructor(
    private readonly projects: Projects,
    private readonly overviews: ProjectOverviews,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string }): Promise<ProjectOverview> {
    const { teamId } = authorize(input.by, permissions.readWorkspace);
    const project = await this.projects.find(teamId, input.projectId);
    if (!project) throw new NotFound('project');
    return this.overviews.of(project);
  }
}
