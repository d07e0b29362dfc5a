import { injectable } from 'inversify';
import { DeploymentService, type DeploymentView } from '../../../application/deployments/deployment.service.js';
import { Instance } from '../../../application/shared/instance.js';
import { Deployment, portOf } from '../../../domain/deployments/deployment.js';
import { answerFrom, deleted, listed } from '../answers.js';
import { type CallOf, type Controller, type Existence, route } from '../contract.js';
import * as contracts from './deployments.contract.js';

@injectable()
export class DeploymentsController implements Controller {
  readonly routes = [
    route(contracts.listDeployments, async ({ caller }) => {
      const deployments = await this.deployments.list(caller);
      return listed(
        'deployments',
        deployments.map((one) => this.answer(one)),
      );
    }),
    route(contracts.createDeployment, (call) => this.create(call)),
    route(contracts.readDeployment, async ({ caller, params }) =>
      this.answer(await this.deployments.read(caller, { id: params.deployment_id })),
    ),
    route(contracts.deleteDeployment, ({ caller, params: { deployment_id: id } }) =>
      deleted(id, this.deployments.delete(caller, { id })),
    ),
    route(contracts.readDeploymentLogs, async ({ caller, params, query }) => {
      const input = { id: params.deployment_id, lines: query.tail };
      return listed('lines', await this.deployments.output(caller, input));
    }),
  ];

  readonly exists: Existence<'deployment_id'> = {
    deployment_id: ({ caller, params }) => this.deployments.output(caller, { id: params.deployment_id, lines: 1 }),
  };

  constructor(
    private readonly deployments: DeploymentService,
    private readonly instance: Instance,
  ) {}

  private async create({ caller, body, signal }: CallOf<typeof contracts.createDeployment>) {
    const fields = {
      name: body.name,
      modelPath: body.model_path ?? null,
      maxBatch: body.max_batch ?? null,
      maxDelayMs: body.max_delay_ms ?? null,
      endpoint: body.endpoint ?? null,
      modelName: body.model_name ?? null,
      modelVersion: body.model_version ?? null,
      keySetting: body.key_setting ?? null,
    };
    const { per_call: perCall = null, per_second: perSecond = null } = body.prices ?? {};
    const prices = body.prices ? { perCall, perSecond } : null;
    return this.answer(await this.deployments.create(caller, { ...fields, prices, signal }));
  }

  private answer({ state, id, createdAt, prices, createdBy: _, lastPort: __, ...model }: DeploymentView) {
    const { kind } = model;
    return answerFrom(
      contracts.DeploymentAnswer,
      { id, kind, createdAt, ...Deployment.fields(model) },
      {
        port: portOf(state.url),
        url: state.url,
        status: state.status,
        reason: state.reason,
        restarts: state.restarts,
        instance: this.instance.name,
        prices: prices && { per_call: prices.perCall, per_second: prices.perSecond },
      },
    );
  }
}
