import { injectable } from 'inversify';
import { type DraftedModel, ModelService } from '../../../application/workspace/model.service.js';
import type { ModelVersionEntry } from '../../../application/workspace/ports.js';
import { ProjectService } from '../../../application/workspace/project.service.js';
import type { Model } from '../../../domain/workspace/model.js';
import { answerFrom, hidden } from '../answer-from.js';
import { type CallOf, type Controller, Reply, route } from '../contract.js';
import { boundedlyPaged, boundedPageOf, pagedVersions, versionInPath, versionPageOf } from '../paging.js';
import { deleted, expectedVersions, saidVersions } from '../schemas.js';
import * as contracts from './models.contract.js';

@injectable()
export class ModelsController implements Controller {
  readonly routes = [
    route(
      contracts.createModel,
      async ({ caller, params, body }) =>
        draftedReply(await this.models.create(caller, params.project_id, body.request_id, body.spec)),
      ({ caller, params }) => this.projects.find(caller, params.project_id),
    ),
    route(
      contracts.listModels,
      async ({ caller, params, query }) => {
        const found = await this.models.list(caller, params.project_id, boundedPageOf(query));
        const { items, ...page } = boundedlyPaged(found);
        return { models: items.map(modelAnswer), ...page };
      },
      ({ caller, params }) => this.projects.find(caller, params.project_id),
    ),
    route(contracts.readModel, async (call) => modelAnswer(await this.read(call))),
    route(
      contracts.updateModel,
      async ({ caller, params: { project_id, model_id }, body: { version, spec }, ifMatch }) => {
        const expected = expectedVersions([version], ifMatch);
        return modelAnswer(await this.models.update(caller, project_id, model_id, expected, spec));
      },
      (call) => this.read(call),
    ),
    route(contracts.deleteModel, async ({ caller, params: { project_id, model_id }, ifMatch }) => {
      await this.models.delete(caller, project_id, model_id, saidVersions([], ifMatch));
      return deleted(model_id);
    }),
    route(
      contracts.registerModel,
      async ({ caller, params: { project_id, model_id }, body, ifMatch }) => {
        const expected = expectedVersions([body.version, body.expected_version], ifMatch);
        return modelAnswer(await this.models.register(caller, project_id, model_id, expected));
      },
      (call) => this.read(call),
    ),
    route(
      contracts.forkModel,
      async ({ caller, params: { project_id, model_id }, body }) =>
        draftedReply(await this.models.fork(caller, project_id, model_id, body.request_id)),
      (call) => this.read(call),
    ),
    route(
      contracts.listModelVersions,
      async ({ caller, params: { project_id, model_id }, query }) => {
        const found = await this.models.versions(caller, project_id, model_id, versionPageOf(query));
        const { versions, ...page } = pagedVersions(found, query);
        return { versions: versions.map(versionEntry), ...page };
      },
      (call) => this.read(call),
    ),
    route(contracts.readModelVersion, async ({ caller, params: { project_id, model_id, version } }) => {
      const found = await this.models.version(caller, project_id, model_id, versionInPath(version));
      return answerFrom(contracts.readModelVersion.answer, found, { id: model_id, project_id, model_id: hidden });
    }),
  ];

  constructor(
    private readonly models: ModelService,
    private readonly projects: ProjectService,
  ) {}

  private read({ caller, params }: Pick<CallOf<typeof contracts.readModel>, 'caller' | 'params'>) {
    return this.models.read(caller, params.project_id, params.model_id);
  }
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
