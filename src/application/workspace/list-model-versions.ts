import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { ModelVersion } from '../../domain/workspace/model.js';
import { ModelRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly page: { readonly limit: number; readonly before: number | null };
}

/** Who made which version of a model and when, newest first. */
@injectable()
export class ListModelVersions {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: ModelRepository,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, modelId, page }: Input): Promise<Omit<ModelVersion, 'spec'>[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const model = await this.found.model(caller, projectId, modelId);
    return this.models.versions(model.id, page);
  }
}
