import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Model } from '../../domain/workspace/model.js';
import { Audit } from '../audit/audit.js';
import { ModelRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  /** None where the caller deletes the draft whatever has become of it. */
  readonly expected: readonly number[];
}

/** Deletes a draft with its versions. A registered model goes only with its project. */
@injectable()
export class DeleteModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: ModelRepository,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, ModelRegistered, StaleVersion. */
  async execute({ by, projectId, modelId, expected }: Input): Promise<void> {
    const caller = authorize(by, permissions.editWorkspace);
    for (;;) {
      const current = await this.found.model(caller, projectId, modelId);
      Model.requireDraft(current, expected);
      const removed = await this.audit.perform(
        { by: caller, action: 'model.deleted', object: { id: current.id } },
        () => this.models.remove(current),
      );
      if (removed) return;
    }
  }
}
