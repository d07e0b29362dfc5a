import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { Model } from '../../domain/workspace/model.js';
import type { Audit } from '../audit/audit.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  /** None where the caller deletes the draft whatever has become of it. */
  readonly expected: readonly number[];
}

/** Deletes a draft with its versions. A registered model goes only with its project. */
export class DeleteModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
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
