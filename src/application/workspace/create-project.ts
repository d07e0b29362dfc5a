import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Project } from '../../domain/workspace/project.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { chosenStarter } from './chosen-starter.js';
import { ProjectRepository, StarterCatalog } from './ports.js';
import { type ProjectOverview, ProjectOverviews } from './project-overview.js';

interface Content {
  readonly name?: string | undefined;
  readonly spec?: JsonObject | undefined;
}

interface Input extends Content {
  readonly by: Caller | null;
  /** Brings the spec, and the name unless there is one already. */
  readonly starterId?: string | undefined;
}

@injectable()
export class CreateProject {
  constructor(
    private readonly projects: ProjectRepository,
    private readonly starters: StarterCatalog,
    private readonly overviews: ProjectOverviews,
    private readonly ids: IdGenerator,
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
