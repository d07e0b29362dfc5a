import { injectable } from 'inversify';
import { ModelAliasService } from '../../../application/workspace/model-alias.service.js';
import { ProjectService } from '../../../application/workspace/project.service.js';
import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { answerFrom, deleted, hidden, listed } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { seconds, sentVersions } from '../schemas.js';
import * as contracts from './model-aliases.contract.js';

@injectable()
export class ModelAliasesController implements Controller {
  readonly routes = [
    route(contracts.listModelAliases, async ({ caller, params }) => {
      const aliases = await this.aliases.list(caller, { projectId: params.project_id });
      return listed('aliases', aliases.map(aliasEntry));
    }),
    route(contracts.readModelAlias, async ({ caller, params }) =>
      aliasAnswer(await this.aliases.read(caller, { projectId: params.project_id, alias: params.alias })),
    ),
    route(contracts.setModelAlias, async ({ caller, params, body, ifMatch, signal }) => {
      const expected = sentVersions([body.version], ifMatch);
      const { project_id: projectId, alias } = params;
      return aliasAnswer(
        await this.aliases.set(caller, { projectId, alias, modelId: body.model_id, expected, signal }),
      );
    }),
    route(contracts.deleteModelAlias, ({ caller, params: { project_id: projectId, alias }, ifMatch, signal }) => {
      const expected = sentVersions([], ifMatch);
      return deleted(alias, this.aliases.delete(caller, { projectId, alias, expected, signal }));
    }),
  ];

  readonly exists: Existence<'project_id'> = {
    project_id: ({ caller, params }) => this.projects.find(caller, { projectId: params.project_id }),
  };

  constructor(
    private readonly aliases: ModelAliasService,
    private readonly projects: ProjectService,
  ) {}
}

const aliasEntry = (change: LivingAlias) =>
  answerFrom(contracts.listModelAliases.answer.shape.aliases.element, change, {
    updated_at: seconds(change.changedAt),
    updated_by: change.changedBy,
    changed_at: hidden,
    changed_by: hidden,
  });

/** Returns the answer about an alias. The newest change must come first, and must not be a deletion. */
const aliasAnswer = (history: readonly AliasChange[]) => ({
  ...aliasEntry(history[0] as LivingAlias),
  history: history.map((change) =>
    answerFrom(contracts.readModelAlias.answer.shape.history.element, change, { alias: hidden, project_id: hidden }),
  ),
});
