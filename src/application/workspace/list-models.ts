import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Model } from '../../domain/workspace/model.js';
import { type Bounded, boundedPage } from '../shared/bounded-page.js';
import { ModelRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** The models of a project, drafts included, newest first. */
@injectable()
export class ListModels {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: ModelRepository,
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
