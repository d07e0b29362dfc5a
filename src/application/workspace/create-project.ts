import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Project } from '../../domain/workspace/project.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import { chosenStarter } from './chosen-starter.js';
import type { Projects } from './ports/projects.js';
import type { Starters } from './ports/starters.js';
import type { ProjectOverview, ProjectOverviews } from './project-overview.js';

interface Content {
  readonly name?: string | undefined;
  readonly spec?: JsonObject | undefined;
}

interface Input extends Content {
  readonly by: Caller | null;
  /** Brings the spec, and the name unless there is one already. */
  readonly starterId?: string | undefined;
}

export class CreateProject {
  constructor(
    private readonly projects: Projects,
    private readonly starters: Starters,
    private readonly overviews: ProjectOverviews,
    private readonly ids: Identifiers,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest. */
  async execute({ by, starterId, ...typed }: Input): Promise<ProjectOverview> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = Project.create({
      ...(starterId === undefined ? typed : await this.begun(starterId, typed)),
      id: this.ids.next('prj'),
      teamId: caller.teamId,
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    });
    await this.projects.add(project);
    return this.overviews.of(project);
  }

  private async begun(starterId: string, { name, spec: typed }: Content): Promise<Content> {
    const message = 'must be left out beside a starter, which brings its own: change it afterwards';
    if (typed !== undefined) throw new InvalidRequest([{ path: 'spec', message }]);
    const { name: usual, spec } = await chosenStarter(this.starters, starterId);
    return { name: name ?? usual, spec };
  }
}
