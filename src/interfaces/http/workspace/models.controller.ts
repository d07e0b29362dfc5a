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
    route(contracts.createModel, async ({ caller, params, body: { request_id: requestId, spec } }) =>
      draftedReply(await this.models.create(caller, { projectId: params.project_id, requestId, spec })),
    ),
    route(contracts.listModels, async ({ caller, params, query, memory }) => {
      const input = { projectId: params.project_id, q: query.q, page: boundedPageOf(query), memory };
      const found = await this.models.list(caller, input);
      return paged('models', found, modelAnswer);
    }),
    route(contracts.readModel, async ({ caller, params }) =>
      modelAnswer(await this.models.read(caller, modelIn(params))),
    ),
    route(contracts.updateModel, async ({ caller, params, body: { version, spec }, ifMatch, signal }) => {
      const expected = expectedVersions([version], ifMatch);
      return modelAnswer(await this.models.update(caller, { ...modelIn(params), expected, signal, spec }));
    }),
    route(contracts.deleteModel, ({ caller, params, ifMatch, signal }) => {
      const expected = sentVersions([], ifMatch);
      return deleted(params.model_id, this.models.delete(caller, { ...modelIn(params), expected, signal }));
    }),
    route(contracts.registerModel, async ({ caller, params, body, ifMatch, signal }) => {
      const expected = expectedVersions([body.version, body.expected_version], ifMatch);
      return modelAnswer(await this.models.register(caller, { ...modelIn(params), expected, signal }));
    }),
    route(contracts.forkModel, async ({ caller, params, body }) =>
      draftedReply(await this.models.fork(caller, { ...modelIn(params), requestId: body.request_id })),
    ),
    route(contracts.listModelVersions, async ({ caller, params, query }) => {
      const found = await this.models.versions(caller, { ...modelIn(params), page: numberPageOf(query) });
      return paged('versions', onePage(found, query), versionEntry);
    }),
    route(contracts.readModelVersion, async ({ caller, params }) => {
      const found = await this.models.version(caller, { ...modelIn(params), version: versionInPath(params.version) });
      const { model_id: id, project_id } = params;
      return answerFrom(contracts.readModelVersion.answer, found, { id, project_id, model_id: hidden });
    }),
  ];

  readonly exists: Existence<'project_id' | 'model_id'> = {
    project_id: ({ caller, params }) => this.projects.find(caller, { projectId: params.project_id }),
    model_id: ({ caller, params }) => this.models.read(caller, modelIn(params)),
  };

  constructor(
    private readonly models: ModelService,
    private readonly projects: ProjectService,
  ) {}
}

const modelIn = (path: { project_id: string; model_id: string }) => ({
  projectId: path.project_id,
  modelId: path.model_id,
});

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
