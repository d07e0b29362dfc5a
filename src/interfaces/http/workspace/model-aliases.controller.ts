import { injectable } from 'inversify';
import { ModelAliasService } from '../../../application/workspace/model-alias.service.js';
import { ProjectService } from '../../../application/workspace/project.service.js';
import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { type Controller, route } from '../contract.js';
import { deleted, saidVersions, seconds } from '../schemas.js';
import * as contracts from './model-aliases.contract.js';

@injectable()
export class ModelAliasesController implements Controller {
  readonly routes = [
    route(contracts.listModelAliases, async ({ caller, params }) => {
      const aliases = await this.aliases.list(caller, params.project_id);
      return { aliases: aliases.map(aliasEntry), count: aliases.length };
    }),
    route(contracts.readModelAlias, async ({ caller, params }) =>
      aliasAnswer(await this.aliases.read(caller, params.project_id, params.alias)),
    ),
    route(
      contracts.setModelAlias,
      async ({ caller, params: { project_id, alias }, body, ifMatch }) => {
        const expected = saidVersions([body.version], ifMatch);
        return aliasAnswer(await this.aliases.set(caller, project_id, alias, body.model_id, expected));
      },
      ({ caller, params }) => this.projects.find(caller, params.project_id),
    ),
    route(contracts.deleteModelAlias, async ({ caller, params: { project_id, alias }, ifMatch }) => {
      await this.aliases.delete(caller, project_id, alias, saidVersions([], ifMatch));
      return deleted(alias);
    }),
  ];

  constructor(
    private readonly aliases: ModelAliasService,
    private readonly projects: ProjectService,
  ) {}
}

const aliasEntry = ({ alias, projectId, modelId, version, changedAt, changedBy }: LivingAlias) => ({
  alias,
  project_id: projectId,
  model_id: modelId,
  version,
  updated_at: seconds(changedAt),
  updated_by: changedBy,
});

/** Takes the changes of an alias that points to a model, newest first. */
const aliasAnswer = (history: readonly AliasChange[]) => ({
  ...aliasEntry(history[0] as LivingAlias),
  history: history.map(({ version, modelId, changedAt, changedBy }) => ({
    version,
    model_id: modelId,
    changed_at: seconds(changedAt),
    changed_by: changedBy,
  })),
});
