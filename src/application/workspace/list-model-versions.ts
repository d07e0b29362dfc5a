import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { ModelVersion } from '../../domain/workspace/model.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly page: { readonly limit: number; readonly before: number | null };
}

/** Who made which version of a model and when, newest first. */
export class ListModelVersions {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
  ) {}

  /** Throws NotFound. */
  async execute({ by, projectId, modelId, page }: Input): Promise<Omit<ModelVersion, 'spec'>[]> {
    const caller = authorize(by, permissions.readWorkspace);
    const model = await this.found.model(caller, projectId, modelId);
    return this.models.versions(model.id, page);
  }
}
