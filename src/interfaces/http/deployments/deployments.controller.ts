import { injectable } from 'inversify';
import { CreateDeployment } from '../../../application/deployments/create-deployment.js';
import { DeleteDeployment } from '../../../application/deployments/delete-deployment.js';
import type { DeploymentView } from '../../../application/deployments/deployment-views.js';
import { ListDeployments } from '../../../application/deployments/list-deployments.js';
import { Predict } from '../../../application/deployments/predict.js';
import { ReadDeployment } from '../../../application/deployments/read-deployment.js';
import { ReadDeploymentOutput } from '../../../application/deployments/read-deployment-output.js';
import { type AnswerOf, type CallOf, type Controller, route, StreamedResponse } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import * as contracts from './deployments.contract.js';

@injectable()
export class DeploymentsController implements Controller {
  readonly routes = [
    route(contracts.listDeployments, async ({ caller }) => {
      const deployments = await this.listDeployments.execute({ by: caller });
      return { deployments: deployments.map(deploymentAnswer), count: deployments.length };
    }),
    route(contracts.createDeployment, (call) => this.create(call)),
    route(contracts.readDeployment, async ({ caller, params }) =>
      deploymentAnswer(await this.readDeployment.execute({ by: caller, id: params.deployment_id })),
    ),
    route(contracts.deleteDeployment, async ({ caller, params }) => {
      await this.deleteDeployment.execute({ by: caller, id: params.deployment_id });
      return deleted(params.deployment_id);
    }),
    route(contracts.predict, async ({ caller, params, body, signal, requestId }) => {
      const input = { by: caller, id: params.deployment_id, body, signal, requestId };
      const { status, headers, body: chunks } = await this.predict.execute(input);
      return new StreamedResponse(status, headers, chunks);
    }),
    route(
      contracts.readDeploymentLogs,
      async ({ caller, params, query }) => {
        const input = { by: caller, id: params.deployment_id, lines: query.tail };
        const lines = await this.readOutput.execute(input);
        return { lines, count: lines.length };
      },
      ({ caller, params }) => this.readOutput.execute({ by: caller, id: params.deployment_id, lines: 1 }),
    ),
  ];

  constructor(
    private readonly listDeployments: ListDeployments,
    private readonly createDeployment: CreateDeployment,
    private readonly readDeployment: ReadDeployment,
    private readonly deleteDeployment: DeleteDeployment,
    private readonly predict: Predict,
    private readonly readOutput: ReadDeploymentOutput,
  ) {}

  private async create({ caller, body, signal }: CallOf<typeof contracts.createDeployment>) {
    const { name, model_path: modelPath, max_batch: maxBatch = null, max_delay_ms: maxDelayMs = null } = body;
    return deploymentAnswer(
      await this.createDeployment.execute({ by: caller, name, modelPath, maxBatch, maxDelayMs, signal }),
    );
  }
}

const deploymentAnswer = ({ state, ...deployment }: DeploymentView): AnswerOf<typeof contracts.readDeployment> => ({
  id: deployment.id,
  name: deployment.name,
  model_path: deployment.modelPath,
  port: state.port,
  url: `http://127.0.0.1:${state.port}`,
  status: state.status,
  created_at: seconds(deployment.createdAt),
  reason: state.reason,
  restarts: state.restarts,
  process: deployment.process,
  max_batch: deployment.maxBatch,
  max_delay_ms: deployment.maxDelayMs,
});
