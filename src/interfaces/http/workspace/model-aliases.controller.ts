import { injectable } from 'inversify';
import { DeleteModelAlias } from '../../../application/workspace/delete-model-alias.js';
import { ListModelAliases } from '../../../application/workspace/list-model-aliases.js';
import { ReadModelAlias } from '../../../application/workspace/read-model-alias.js';
import { ReadProject } from '../../../application/workspace/read-project.js';
import { SetModelAlias } from '../../../application/workspace/set-model-alias.js';
import type { AliasChange, LivingAlias } from '../../../domain/workspace/model-alias.js';
import { type CallOf, type Controller, route } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import { saidVersions } from '../versions.js';
import * as contracts from './model-aliases.contract.js';

type OfAlias = Pick<CallOf<typeof contracts.readModelAlias>, 'caller' | 'params'>;

@injectable()
export class ModelAliasesController implements Controller {
  readonly routes = [
    route(contracts.listModelAliases, async ({ caller, params }) => {
      const living = await this.listAliases.execute({ by: caller, projectId: params.project_id });
      return { aliases: living.map(listed), count: living.length };
    }),
    route(contracts.readModelAlias, async (call) => aliasAnswer(await this.readAlias.execute(ofAlias(call)))),
    route(
      contracts.setModelAlias,
      async ({ body, ifMatch, ...call }) => {
        const expected = saidVersions([body.version], ifMatch);
        return aliasAnswer(await this.setAlias.execute({ ...ofAlias(call), modelId: body.model_id, expected }));
      },
      ({ caller, params }) => this.readProject.execute({ by: caller, projectId: params.project_id }),
    ),
    route(contracts.deleteModelAlias, async ({ ifMatch, ...call }) => {
      await this.deleteAlias.execute({ ...ofAlias(call), expected: saidVersions([], ifMatch) });
      return deleted(call.params.alias);
    }),
  ];

  constructor(
    private readonly setAlias: SetModelAlias,
    private readonly readAlias: ReadModelAlias,
    private readonly listAliases: ListModelAliases,
    private readonly deleteAlias: DeleteModelAlias,
    private readonly readProject: ReadProject,
  ) {}
}

const ofAlias = ({ caller, params }: OfAlias) => ({ by: caller, projectId: params.project_id, alias: params.alias });

const listed = ({ alias, projectId, modelId, version, changedAt, changedBy }: LivingAlias) => ({
  alias,
  project_id: projectId,
  model_id: modelId,
  version,
  updated_at: seconds(changedAt),
  updated_by: changedBy,
});

/** Of an alias that points to a model, so its newest change has one. */
const aliasAnswer = (history: readonly AliasChange[]) => ({
  ...listed(history[0] as LivingAlias),
  history: history.map(({ version, modelId, changedAt, changedBy }) => ({
    version,
    model_id: modelId,
    changed_at: seconds(changedAt),
    changed_by: changedBy,
  })),
});
