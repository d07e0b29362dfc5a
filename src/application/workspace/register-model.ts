import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { Model } from '../../domain/workspace/model.js';
import type { Audit } from '../audit/audit.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly modelId: string;
  readonly expected: readonly number[];
}

/** Makes a model immutable. */
export class RegisterModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
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
