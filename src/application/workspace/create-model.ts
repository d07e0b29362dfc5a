import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { canonical, type JsonObject } from '../../domain/workspace/json.js';
import { type Drafted, DraftModels } from './draft-models.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly requestId: string;
  readonly spec: JsonObject;
}

@injectable()
export class CreateModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly drafts: DraftModels,
  ) {}

  /** Throws NotFound, InvalidRequest, RequestIdConflict. */
  async execute({ by, projectId, requestId, spec }: Input): Promise<Drafted> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.found.project(caller, projectId);
    return this.drafts.once({
      projectId: project.id,
      requestId,
      spec,
      requestedSpec: canonical(spec),
      forkedFrom: null,
      createdBy: caller.accountId,
    });
  }
}
