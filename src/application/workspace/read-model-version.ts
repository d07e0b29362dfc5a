import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { ModelVersion } from '../../domain/workspace/model.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly version: number;
}

export class ReadModelVersion {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
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
