import { injectable } from 'inversify';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { RequestIdConflict } from '../../domain/workspace/errors.js';
import { canonicalUuid, Model } from '../../domain/workspace/model.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { ModelRepository } from './ports.js';

type Wanted = Pick<Model, 'projectId' | 'spec' | 'requestedSpec' | 'createdBy' | 'forkedFrom'> & {
  /** As the caller wrote it; undefined for a draft that is nobody's repetition. */
  readonly requestId: string | undefined;
};

/** `created` is false where an earlier call had made the model. */
export interface Drafted {
  readonly model: Model;
  readonly created: boolean;
}

/** Makes drafts, with the same request id one at most. */
@injectable()
export class DraftModels {
  constructor(
    private readonly models: ModelRepository,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound, InvalidRequest, RequestIdConflict. */
  async once({ requestId: typed, ...wanted }: Wanted): Promise<Drafted> {
    const id = this.ids.next('mdl');
    const requestId = canonicalUuid(typed ?? id.slice('mdl_'.length));
    if (!requestId) throw new InvalidRequest([{ path: 'request_id', message: 'must be a UUID' }]);
    const draft = Model.draft({ ...wanted, id, requestId, createdAt: this.clock.now() });
    const model = await this.models.addOnce(draft);
    if (model.requestedSpec !== draft.requestedSpec) throw new RequestIdConflict();
    return { model, created: model.id === draft.id };
  }
}
