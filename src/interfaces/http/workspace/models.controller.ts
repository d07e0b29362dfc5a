import { injectable } from 'inversify';
import { CreateModel } from '../../../application/workspace/create-model.js';
import { DeleteModel } from '../../../application/workspace/delete-model.js';
import type { Drafted } from '../../../application/workspace/draft-models.js';
import { ForkModel } from '../../../application/workspace/fork-model.js';
import { ListModels } from '../../../application/workspace/list-models.js';
import { ReadModel } from '../../../application/workspace/read-model.js';
import { ReadProject } from '../../../application/workspace/read-project.js';
import { RegisterModel } from '../../../application/workspace/register-model.js';
import { UpdateModel } from '../../../application/workspace/update-model.js';
import type { Model } from '../../../domain/workspace/model.js';
import { type AnswerOf, type CallOf, type Controller, Reply, route } from '../contract.js';
import { boundedlyPaged, boundedPageOf } from '../paging.js';
import { deleted, seconds, secondsOrNull } from '../schemas.js';
import { expectedVersions, saidVersions } from '../versions.js';
import * as contracts from './models.contract.js';

type OfProject = Pick<CallOf<typeof contracts.createModel>, 'caller' | 'params'>;
type OfModel = Pick<CallOf<typeof contracts.readModel>, 'caller' | 'params'>;

@injectable()
export class ModelsController implements Controller {
  readonly routes = [
    route(
      contracts.createModel,
      async ({ body, ...call }) => {
        const input = { ...inProject(call), requestId: body.request_id, spec: body.spec };
        return draftedReply(await this.createModel.execute(input));
      },
      (call) => this.readProject.execute(inProject(call)),
    ),
    route(
      contracts.listModels,
      async ({ query, ...call }) => {
        const found = await this.listModels.execute({ ...inProject(call), page: boundedPageOf(query) });
        const { items, ...page } = boundedlyPaged(found);
        return { models: items.map(modelAnswer), ...page };
      },
      (call) => this.readProject.execute(inProject(call)),
    ),
    route(contracts.readModel, async (call) => modelAnswer(await this.readModel.execute(ofModel(call)))),
    route(
      contracts.updateModel,
      async ({ body: { version, spec }, ifMatch, ...call }) => {
        const input = { ...ofModel(call), expected: expectedVersions([version], ifMatch), spec };
        return modelAnswer(await this.updateModel.execute(input));
      },
      (call) => this.readModel.execute(ofModel(call)),
    ),
    route(contracts.deleteModel, async ({ ifMatch, ...call }) => {
      await this.deleteModel.execute({ ...ofModel(call), expected: saidVersions([], ifMatch) });
      return deleted(call.params.model_id);
    }),
    route(
      contracts.registerModel,
      async ({ body, ifMatch, ...call }) => {
        const expected = expectedVersions([body.version, body.expected_version], ifMatch);
        return modelAnswer(await this.registerModel.execute({ ...ofModel(call), expected }));
      },
      (call) => this.readModel.execute(ofModel(call)),
    ),
    route(
      contracts.forkModel,
      async ({ body, ...call }) =>
        draftedReply(await this.forkModel.execute({ ...ofModel(call), requestId: body.request_id })),
      (call) => this.readModel.execute(ofModel(call)),
    ),
  ];

  constructor(
    private readonly createModel: CreateModel,
    private readonly listModels: ListModels,
    private readonly readModel: ReadModel,
    private readonly updateModel: UpdateModel,
    private readonly registerModel: RegisterModel,
    private readonly forkModel: ForkModel,
    private readonly deleteModel: DeleteModel,
    private readonly readProject: ReadProject,
  ) {}
}

const inProject = ({ caller, params }: OfProject) => ({ by: caller, projectId: params.project_id });
export const ofModel = ({ caller, params }: OfModel) => ({
  by: caller,
  projectId: params.project_id,
  modelId: params.model_id,
});

const draftedReply = ({ model, created }: Drafted) => new Reply(created ? 201 : 200, modelAnswer(model));

export const modelAnswer = (model: Model): AnswerOf<typeof contracts.readModel> => ({
  id: model.id,
  project_id: model.projectId,
  version: model.version,
  state: model.state,
  spec: model.spec,
  forked_from: model.forkedFrom && { model_id: model.forkedFrom.modelId, version: model.forkedFrom.version },
  created_by: model.createdBy,
  created_at: seconds(model.createdAt),
  updated_at: seconds(model.updatedAt),
  registered_at: secondsOrNull(model.registeredAt),
});
