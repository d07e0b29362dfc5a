import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { CallTracker, type TrackedCall } from '../jobs/call-tracker.js';
import type { ByteStream } from '../shared/byte-stream.js';
import { DeploymentViews } from './deployment-views.js';
import { ModelServer, type Prediction, type PredictionCall } from './ports.js';

interface Input extends PredictionCall {
  readonly by: Caller | null;
  readonly id: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** Passes a prediction on to the deployment's process, for callers that are not on the machine. */
@injectable()
export class Predict {
  constructor(
    private readonly views: DeploymentViews,
    private readonly servers: ModelServer,
    private readonly calls: CallTracker,
  ) {}

  /** Throws NotFound, RunsElsewhere before anything of the body is read, what `ModelServers.predict` throws, and what keeps the call's end from being stored. */
  async execute({ by, id, signal, requestId, body }: Input): Promise<Prediction> {
    const caller = authorize(by, permissions.readMonitoring);
    const { name } = await this.views.findHere(id);
    const about = { by: caller, kind: 'prediction', name, projectId: null, modelId: null, signal } as const;
    const tracking = await this.calls.open(about);
    const call = { requestId, body: noted(body, () => tracking.admitted()) };
    const prediction = await tracking
      .within(() => this.servers.predict(id, call, signal))
      .catch((error: unknown) => fail(tracking, error));
    return this.tracked(prediction, tracking, signal);
  }

  /** An answer that is on its way has its end where it ends. */
  private async tracked(prediction: Prediction, tracking: TrackedCall, signal: AbortSignal): Promise<Prediction> {
    if (prediction.status !== 200) tracking.refused();
    else if (prediction.complete) await tracking.succeeded();
    else {
      signal.addEventListener('abort', () => void tracking.cancelled().catch(() => undefined)); // it is stored later
      return { ...prediction, body: passed(prediction.body, tracking) };
    }
    return prediction;
  }
}

/** The process can work on it when it has all of the body. */
const noted = (body: ByteStream, sent: () => void): ByteStream => ({
  ...body,
  chunks: (async function* () {
    yield* body.chunks;
    sent();
  })(),
});

async function* passed(chunks: AsyncIterable<Uint8Array>, tracking: TrackedCall): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    await fail(tracking, error);
  }
  await tracking.succeeded();
}

async function fail(tracking: TrackedCall, error: unknown): Promise<never> {
  await tracking.failed(error);
  throw error;
}
