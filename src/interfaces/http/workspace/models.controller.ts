import type { CreateModel } from '../../../application/workspace/create-model.js';
import type { ReadModel } from '../../../application/workspace/read-model.js';
import type { ReadProject } from '../../../application/workspace/read-project.js';
import type { RegisterModel } from '../../../application/workspace/register-model.js';
import type { Model } from '../../../domain/workspace/model.js';
import { type AnswerOf, type Controller, Reply, route } from '../contract.js';
import { seconds, secondsOrNull } from '../schemas.js';
import { expectedVersions } from '../versions.js';
import * as contracts from './models.contract.js';

export class ModelsController implements Controller {
  readonly routes = [
    route(
      contracts.createModel,
      async ({ caller, params, body }) => {
        const input = { by: caller, projectId: params.project_id, requestId: body.request_id, spec: body.spec };
        const { model, created } = await this.createModel.execute(input);
        return new Reply(created ? 201 : 200, modelAnswer(model));
      },
      ({ caller, params }) => this.readProject.execute({ by: caller, projectId: params.project_id }),
    ),
    route(contracts.readModel, async ({ caller, params }) =>
      modelAnswer(await this.readModel.execute({ by: caller, projectId: params.project_id, modelId: params.model_id })),
    ),
    route(
      contracts.registerModel,
      async ({ caller, params, body, ifMatch }) => {
        const expected = expectedVersions([body.version, body.expected_version], ifMatch);
        const input = { by: caller, projectId: params.project_id, modelId: params.model_id, expected };
        return modelAnswer(await this.registerModel.execute(input));
      },
      ({ caller, params }) =>
        this.readModel.execute({ by: caller, projectId: params.project_id, modelId: params.model_id }),
    ),
  ];

  constructor(
    private readonly createModel: CreateModel,
    private readonly readModel: ReadModel,
    private readonly registerModel: RegisterModel,
    private readonly readProject: ReadProject,
  ) {}
}

export const modelAnswer = (model: Model): AnswerOf<typeof contracts.readModel> => ({
  id: model.id,
  project_id: model.projectId,
  version: model.version,
  state: model.state,
  spec: model.spec,
  created_at: seconds(model.createdAt),
  updated_at: seconds(model.updatedAt),
  registered_at: secondsOrNull(model.registeredAt),
});
