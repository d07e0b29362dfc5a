import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { ProjectRepository } from './ports.js';
import { type ProjectOverview, ProjectOverviews } from './project-overview.js';

@injectable()
export class ReadProject {
  constructor(
    private readonly projects: ProjectRepository,
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
