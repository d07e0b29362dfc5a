import { injectable } from 'inversify';
import { DeploymentService, type DeploymentView } from '../../../application/deployments/deployment.service.js';
import { Instance } from '../../../application/shared/instance.js';
import { type AnswerOf, type CallOf, type Controller, route, StreamedResponse } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import * as contracts from './deployments.contract.js';

@injectable()
export class DeploymentsController implements Controller {
  readonly routes = [
    route(contracts.listDeployments, async ({ caller }) => {
      const deployments = await this.deployments.list({ by: caller });
      return { deployments: deployments.map((one) => this.answer(one)), count: deployments.length };
    }),
    route(contracts.createDeployment, (call) => this.create(call)),
    route(contracts.readDeployment, async ({ caller, params }) =>
      this.answer(await this.deployments.read({ by: caller, id: params.deployment_id })),
    ),
    route(contracts.deleteDeployment, async ({ caller, params }) => {
      await this.deployments.delete({ by: caller, id: params.deployment_id });
      return deleted(params.deployment_id);
    }),
    route(contracts.predict, async ({ caller, params, body, signal, requestId }) => {
      const input = { by: caller, id: params.deployment_id, body, signal, requestId };
      const { status, headers, body: chunks } = await this.deployments.predict(input);
      return new StreamedResponse(status, headers, chunks);
    }),
    route(
      contracts.readDeploymentLogs,
      async ({ caller, params, query }) => {
        const input = { by: caller, id: params.deployment_id, lines: query.tail };
        const lines = await this.deployments.output(input);
        return { lines, count: lines.length };
      },
      ({ caller, params }) => this.deployments.output({ by: caller, id: params.deployment_id, lines: 1 }),
    ),
  ];

  constructor(
    private readonly deployments: DeploymentService,
    private readonly instance: Instance,
  ) {}

  private async create({ caller, body, signal }: CallOf<typeof contracts.createDeployment>) {
    const { name, model_path: modelPath, max_batch: maxBatch = null, max_delay_ms: maxDelayMs = null } = body;
    return this.answer(await this.deployments.create({ by: caller, name, modelPath, maxBatch, maxDelayMs, signal }));
  }

  private answer({ state, ...deployment }: DeploymentView): AnswerOf<typeof contracts.readDeployment> {
    return {
      id: deployment.id,
      name: deployment.name,
      model_path: deployment.modelPath,
      port: state.port,
      url: `http://127.0.0.1:${state.port}`,
      status: state.status,
      created_at: seconds(deployment.createdAt),
      reason: state.reason,
      restarts: state.restarts,
      instance: this.instance.name,
      max_batch: deployment.maxBatch,
      max_delay_ms: deployment.maxDelayMs,
    };
  }
}
