import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Project } from '../../domain/workspace/project.js';
import { Clock } from '../shared/ports.js';
import { ProjectRepository } from './ports.js';
import { type ProjectOverview, ProjectOverviews } from './project-overview.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  /** The version last read, as the caller says it in one place or in several. */
  readonly expected: readonly number[];
  readonly name?: string;
  readonly spec: JsonObject;
}

@injectable()
export class UpdateProject {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly overviews: ProjectOverviews,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, InvalidRequest, StaleVersion. */
  async execute({ by, projectId, expected, ...typed }: Input): Promise<ProjectOverview> {
    const { teamId, accountId } = authorize(by, permissions.editWorkspace);
    for (;;) {
      const current = await this.projects.find(teamId, projectId);
      if (!current) throw new NotFound('project');
      const next = Project.update(current, expected, { ...typed, by: accountId, at: this.clock.now() });
      // A lost race means that the version has moved on: the next look at it throws StaleVersion.
      if (await this.projects.replace(current, next)) return this.overviews.of(next);
    }
  }
}
