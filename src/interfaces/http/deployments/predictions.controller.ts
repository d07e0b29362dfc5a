import { injectable } from 'inversify';
import { DeploymentService } from '../../../application/deployments/deployment.service.js';
import type { ModelOperation, ModelRequest } from '../../../application/deployments/ports.js';
import type { Reservation } from '../../../application/shared/memory-budget.js';
import type { Caller } from '../../../domain/accounts/caller.js';
import { type CallOf, type Controller, type Existence, route, StreamedResponse } from '../contract.js';
import * as contracts from './predictions.contract.js';

interface Call {
  readonly caller: Caller | null;
  readonly params: {
    readonly deployment_id: string;
    readonly model_name?: string;
    readonly model_version?: string;
  };
  readonly signal: AbortSignal;
  readonly memory: Reservation;
  readonly requestId: string;
}

@injectable()
export class PredictionsController implements Controller {
  readonly routes = [
    route(contracts.predict, (call) => this.forward('predict', call, { body: call.body })),
    route(contracts.readServerMetadata, (call) => this.forward('server_metadata', call)),
    route(contracts.readServerLive, (call) => this.forward('server_live', call)),
    route(contracts.readServerReady, (call) => this.forward('server_ready', call)),
    route(contracts.readModelMetadata, (call) => this.forward('model_metadata', call)),
    route(contracts.readModelVersionMetadata, (call) => this.forward('model_metadata', call)),
    route(contracts.readModelReady, (call) => this.forward('model_ready', call)),
    route(contracts.readModelVersionReady, (call) => this.forward('model_ready', call)),
    route(contracts.infer, (call) => this.forward('infer', call, tensorsOf(call))),
    route(contracts.inferWithVersion, (call) => this.forward('infer', call, tensorsOf(call))),
  ];

  readonly exists: Existence<'deployment_id'> = {
    deployment_id: ({ caller, params }) => this.deployments.require(caller, { id: params.deployment_id }),
  };

  constructor(private readonly deployments: DeploymentService) {}

  /** Forwards a request to the model, and the answer of the model to the caller as it arrives. */
  private async forward(
    operation: ModelOperation,
    { caller, params, signal, memory, requestId }: Call,
    { body = null, jsonLength = null }: Partial<Pick<ModelRequest, 'body' | 'jsonLength'>> = {},
  ): Promise<StreamedResponse> {
    const { deployment_id: id, model_name: modelName = null, model_version: version = null } = params;
    const about = { operation, version, body, jsonLength, requestId, memory };
    const answer = await this.deployments.request(caller, { id, modelName, signal, ...about });
    return new StreamedResponse(answer.status, answer.headers, answer.body);
  }
}

function tensorsOf({ body, headers }: CallOf<typeof contracts.infer>) {
  const length = headers[contracts.LENGTH_HEADER];
  return { body, jsonLength: length === undefined ? null : Number(length) };
}
