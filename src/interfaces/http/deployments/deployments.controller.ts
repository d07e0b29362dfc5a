import { injectable } from 'inversify';
import { DeploymentService, type DeploymentView } from '../../../application/deployments/deployment.service.js';
import { Instance } from '../../../application/shared/instance.js';
import { portOf } from '../../../domain/deployments/deployment.js';
import { answerFrom, deleted, hidden, listed } from '../answers.js';
import { type CallOf, type Controller, type Existence, route } from '../contract.js';
import * as contracts from './deployments.contract.js';

@injectable()
export class DeploymentsController implements Controller {
  readonly routes = [
    route(contracts.listDeployments, async ({ caller }) => {
      const deployments = await this.deployments.list({ by: caller });
      return listed(
        'deployments',
        deployments.map((one) => this.answer(one)),
      );
    }),
    route(contracts.createDeployment, (call) => this.create(call)),
    route(contracts.readDeployment, async ({ caller, params }) =>
      this.answer(await this.deployments.read({ by: caller, id: params.deployment_id })),
    ),
    route(contracts.deleteDeployment, ({ caller, params: { deployment_id: id } }) =>
      deleted(id, this.deployments.delete({ by: caller, id })),
    ),
    route(contracts.readDeploymentLogs, async ({ caller, params, query }) => {
      const input = { by: caller, id: params.deployment_id, lines: query.tail };
      return listed('lines', await this.deployments.output(input));
    }),
  ];

  readonly exists: Existence<'deployment_id'> = {
    deployment_id: ({ caller, params }) => this.deployments.output({ by: caller, id: params.deployment_id, lines: 1 }),
  };

  constructor(
    private readonly deployments: DeploymentService,
    private readonly instance: Instance,
  ) {}

  private async create({ caller, body, signal }: CallOf<typeof contracts.createDeployment>) {
    const { name, model_path: modelPath, max_batch: maxBatch = null, max_delay_ms: maxDelayMs = null } = body;
    return this.answer(await this.deployments.create({ by: caller, name, modelPath, maxBatch, maxDelayMs, signal }));
  }

  private answer({ state, ...deployment }: DeploymentView) {
    return answerFrom(contracts.DeploymentAnswer, deployment, {
      port: portOf(state.url),
      url: state.url,
      status: state.status,
      reason: state.reason,
      restarts: state.restarts,
      instance: this.instance.name,
      kind: hidden,
      created_by: hidden,
      last_port: hidden,
    });
  }
}
