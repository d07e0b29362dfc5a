import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { RequestIdConflict } from '../../domain/workspace/errors.js';
import { canonical, type JsonObject } from '../../domain/workspace/json.js';
import { canonicalUuid, Model } from '../../domain/workspace/model.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { Models } from './ports/models.js';
import type { ProjectModels } from './project-models.js';

interface Input {
  readonly by: Caller | null;
  readonly projectId: string;
  readonly requestId: string;
  readonly spec: JsonObject;
}

export class CreateModel {
  constructor(
    private readonly found: ProjectModels,
    private readonly models: Models,
    private readonly ids: Identifiers,
    private readonly clock: Clock,
  ) {}

  /** `created` is false for a repeated call. Throws NotFound, InvalidRequest, RequestIdConflict. */
  async execute({ by, ...input }: Input): Promise<{ model: Model; created: boolean }> {
    const caller = authorize(by, permissions.editWorkspace);
    const project = await this.found.project(caller, input.projectId);
    const requestId = canonicalUuid(input.requestId);
    if (!requestId) throw new InvalidRequest([{ path: 'request_id', message: 'must be a UUID' }]);
    const draft = Model.draft({
      id: this.ids.next('mdl'),
      projectId: project.id,
      requestId,
      spec: input.spec,
      requestedSpec: canonical(input.spec),
      createdBy: caller.accountId,
      createdAt: this.clock.now(),
    });
    const model = await this.models.addOnce(draft);
    if (model.requestedSpec !== draft.requestedSpec) throw new RequestIdConflict();
    return { model, created: model.id === draft.id };
  }
}
