import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { canonical, type JsonObject } from '../../domain/workspace/json.js';
import type { Drafted, DraftModels } from './draft-models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly requestId: string;
  readonly spec: JsonObject;
}

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
