import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Model } from '../../domain/workspace/model.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly expected: readonly number[];
  readonly spec: JsonObject;
}

export class UpdateModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, ModelRegistered, StaleVersion. */
  async execute({ by, projectId, modelId, expected, spec }: Input): Promise<Model> {
    const caller = authorize(by, permissions.editWorkspace);
    for (;;) {
      const current = await this.found.model(caller, projectId, modelId);
      const next = Model.update(current, expected, { spec, by: caller.accountId, at: this.clock.now() });
      // A lost race means that the model has changed or is gone: the next look at it throws.
      if (await this.models.replace(current, next)) return next;
    }
  }
}
