import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { DeploymentViews } from './deployment-views.js';
import type { ModelServers, Prediction, PredictionCall } from './ports/model-servers.js';

interface Input extends PredictionCall {
  readonly by: Caller | null;
  readonly id: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** Passes a prediction on to the deployment's process, for callers that are not on the machine. */
export class Predict {
  constructor(
    private readonly views: DeploymentViews,
    private readonly servers: ModelServers,
  ) {}

  /** Throws NotFound, and what `ModelServers.predict` throws. */
  async execute({ by, id, signal, ...call }: Input): Promise<Prediction> {
    authorize(by, permissions.readMonitoring);
    await this.views.find(id);
    return this.servers.predict(id, call, signal);
  }
}
