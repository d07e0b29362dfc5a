import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Model } from '../../domain/workspace/model.js';
import { Audit } from '../audit/audit.js';
import { Clock } from '../shared/ports.js';
import { ModelRepository } from './ports.js';
import { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly expected: readonly number[];
}

/** Makes a model immutable. */
@injectable()
export class RegisterModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: ModelRepository,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, ModelRegistered, StaleVersion. */
  async execute(input: Input): Promise<Model> {
    const caller = authorize(input.by, permissions.editWorkspace);
    for (;;) {
      const current = await this.found.model(caller, input.projectId, input.modelId);
      const next = Model.register(current, input.expected, this.clock.now());
      const details = { version: next.version };
      const object = { id: next.id };
      const registered = await this.audit.perform({ by: caller, action: 'model.registered', object, details }, () =>
        this.models.replace(current, next),
      );
      // A lost race means that the model has changed: the next look at it tells how.
      if (registered) return next;
    }
  }
}
