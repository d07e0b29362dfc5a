import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Project } from '../../domain/workspace/project.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { Projects } from './ports/projects.js';
import type { ProjectOverview, ProjectOverviews } from './project-overview.js';

interface Input {
  readonly by: Caller | null;
  readonly name?: string;
  readonly spec?: JsonObject;
}

export class CreateProject {
  constructor(
    private readonly projects: Projects,
    private readonly overviews: ProjectOverviews,
    private readonly ids: Identifiers,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest. */
  async execute({ by, ...typed }: Input): Promise<ProjectOverview> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = Project.create({
      ...typed,
      id: this.ids.next('prj'),
      teamId: caller.teamId,
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    });
    await this.projects.add(project);
    return this.overviews.of(project);
  }
}
