import { injectable } from 'inversify';
import { type DraftedModel, ModelService } from '../../../application/workspace/model.service.js';
import type { ModelVersionEntry } from '../../../application/workspace/ports.js';
import { ProjectService } from '../../../application/workspace/project.service.js';
import type { Model } from '../../../domain/workspace/model.js';
import { answerFrom, deleted, hidden, paged } from '../answers.js';
import { type Controller, type Existence, Reply, route } from '../contract.js';
import { boundedPageOf, numberPageOf, onePage, versionInPath } from '../paging.js';
import { expectedVersions, sentVersions } from '../schemas.js';
import * as contracts from './models.contract.js';

@injectable()
export class ModelsController implements Controller {
  readonly routes = [
    route(contracts.createModel, async ({ caller, params, body }) =>
      draftedReply(await this.models.create(caller, params.project_id, body.request_id, body.spec)),
    ),
    route(contracts.listModels, async ({ caller, params, query }) =>
      paged('models', await this.models.list(caller, params.project_id, boundedPageOf(query)), modelAnswer),
    ),
    route(contracts.readModel, async ({ caller, params: { project_id, model_id } }) =>
      modelAnswer(await this.models.read(caller, project_id, model_id)),
    ),
    route(
      contracts.updateModel,
      async ({ caller, params: { project_id, model_id }, body: { version, spec }, ifMatch }) => {
        const expected = expectedVersions([version], ifMatch);
        return modelAnswer(await this.models.update(caller, project_id, model_id, expected, spec));
      },
    ),
    route(contracts.deleteModel, ({ caller, params: { project_id, model_id }, ifMatch }) =>
      deleted(model_id, this.models.delete(caller, project_id, model_id, sentVersions([], ifMatch))),
    ),
    route(contracts.registerModel, async ({ caller, params: { project_id, model_id }, body, ifMatch }) => {
      const expected = expectedVersions([body.version, body.expected_version], ifMatch);
      return modelAnswer(await this.models.register(caller, project_id, model_id, expected));
    }),
    route(contracts.forkModel, async ({ caller, params: { project_id, model_id }, body }) =>
      draftedReply(await this.models.fork(caller, project_id, model_id, body.request_id)),
    ),
    route(contracts.listModelVersions, async ({ caller, params: { project_id, model_id }, query }) => {
      const found = await this.models.versions(caller, project_id, model_id, numberPageOf(query));
      return paged('versions', onePage(found, query), versionEntry);
    }),
    route(contracts.readModelVersion, async ({ caller, params: { project_id, model_id, version } }) => {
      const found = await this.models.version(caller, project_id, model_id, versionInPath(version));
      return answerFrom(contracts.readModelVersion.answer, found, { id: model_id, project_id, model_id: hidden });
    }),
  ];

  readonly exists: Existence<'project_id' | 'model_id'> = {
    project_id: ({ caller, params }) => this.projects.find(caller, params.project_id),
    model_id: ({ caller, params }) => this.models.read(caller, params.project_id, params.model_id),
  };

  constructor(
    private readonly models: ModelService,
    private readonly projects: ProjectService,
  ) {}
}

const draftedReply = ({ model, created }: DraftedModel) => new Reply(created ? 201 : 200, modelAnswer(model));

export const modelAnswer = (model: Model) =>
  answerFrom(contracts.readModel.answer, model, {
    forked_from: model.forkedFrom && { model_id: model.forkedFrom.modelId, version: model.forkedFrom.version },
    request_id: hidden,
    requested_spec: hidden,
    updated_by: hidden,
  });

const versionEntry = (entry: ModelVersionEntry) =>
  answerFrom(contracts.listModelVersions.answer.shape.versions.element, entry, { model_id: hidden });
