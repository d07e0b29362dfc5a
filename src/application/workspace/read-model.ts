import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Model } from '../../domain/workspace/model.js';
import { ProjectModels } from './project-models.js';

@injectable()
export class ReadModel {
  constructor(private readonly found: ProjectModels) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; projectId: string; modelId: string }): Promise<Model> {
    const caller = authorize(input.by, permissions.readWorkspace);
    return this.found.model(caller, input.projectId, input.modelId);
  }
}
