import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { Model } from '../../domain/workspace/model.js';
import { Clock } from '../shared/ports.js';
import { ModelRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly expected: readonly number[];
  readonly spec: JsonObject;
}

@injectable()
export class UpdateModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: ModelRepository,
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
