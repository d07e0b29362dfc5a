import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Model } from '../../domain/workspace/model.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** The models of a project, drafts included, newest first. */
export class ListModels {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, page }: Input): Promise<Bounded<Model>> {
    const caller = authorize(by, permissions.readWorkspace);
    const project = await this.found.project(caller, projectId);
    return boundedPage(
      page,
      (next) => this.models.all(project.id, next),
      ({ spec }) => spec,
    );
  }
}
