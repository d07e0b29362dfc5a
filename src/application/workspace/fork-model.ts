import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { type Drafted, DraftModels } from './draft-models.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly requestId: string | undefined;
}

/** Makes a draft of what a model is now: how a registered model gets its next version. */
@injectable()
export class ForkModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly drafts: DraftModels,
  ) {}

  /** Throws NotFound, InvalidRequest, RequestIdConflict. */
  async execute({ by, projectId, modelId, requestId }: Input): Promise<Drafted> {
    const caller = authorize(by, permissions.editWorkspace);
    const { id, version, spec, ...model } = await this.found.model(caller, projectId, modelId);
    return this.drafts.once({
      projectId: model.projectId,
      requestId,
      spec,
      requestedSpec: `fork of ${id}`, // whichever version it has by the time of a repetition
      forkedFrom: { modelId: id, version },
      createdBy: caller.accountId,
    });
  }
}
