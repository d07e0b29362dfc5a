import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { ModelVersion } from '../../domain/workspace/model.js';
import { ModelRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly version: number;
}

@injectable()
export class ReadModelVersion {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: ModelRepository,
  ) {}

  /** Throws NotFound. */
  async execute(input: Input): Promise<ModelVersion> {
    const caller = authorize(input.by, permissions.readWorkspace);
    const model = await this.found.model(caller, input.projectId, input.modelId);
    const version = await this.models.version(model.id, input.version);
    if (!version) throw new NotFound('version');
    return version;
  }
}
