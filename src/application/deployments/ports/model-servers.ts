import type { DeploymentStatus, ServedModel } from '../../../domain/deployments/deployment.js';
import type { ByteStream } from '../../shared/byte-stream.js';
import { port } from '../../shared/port.js';

/** What is true of a deployment's process at this moment. */
export interface ServerState {
  readonly status: DeploymentStatus;
  /** Of the process; of the one before where there is none just now; null where none has listened yet. */
  readonly port: number | null;
  /** Why it does not run, where it does not. */
  readonly reason: string | null;
  /** How often its process was started again since it was started here. */
  readonly restarts: number;
}

export interface PredictionCall {
  readonly body: ByteStream;
  /** Stands in the answer, where that is a refusal. */
  readonly requestId: string;
}

/** A process's answer, with the headers that matter to a caller. */
export interface Prediction {
  /** 200, or a refusal in the service's envelope: 4xx, or 504 for one that waited too long in the process. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** It throws where the process breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** All of the body is here already: it can't break off any more. */
  readonly complete: boolean;
}

/**
 * Serves model files, each by a process of its own that listens on a port of 127.0.0.1. Nothing here is remembered
 * across restarts of the service; ids are the deployments'.
 */
export interface ModelServers {
  /**
   * Starts a process and resolves to its port once it has proved its health; from then on it is started again, with a
   * growing delay, whenever it dies. Throws ModelFileInvalid where the file can't be served, with the loader's reason,
   * DeploymentUnavailable where the proof does not come in time, and the signal's reason once that is aborted. Nothing
   * is left behind then.
   */
  start(id: string, model: ServedModel, signal: AbortSignal): Promise<number>;

  /**
   * For what ran before the service ended: returns at once. It is `starting` until its turn has come, since only a few
   * begin at a time. One that fails is tried again with a growing delay, and is `crash_looping` in between.
   */
  resume(id: string, model: ServedModel): void;

  /**
   * Asks the process for a proof that only it can give, afresh each time and for at most a second: without it nothing
   * is `running`. `stopped` for an id that was not started here.
   */
  probe(id: string): Promise<ServerState>;

  /** Of all that were started or resumed here and not stopped, whatever became of their processes. */
  ids(): readonly string[];

  /** Resolves once the process is gone, by force if need be. Stopping what does not run is done. */
  stop(id: string): Promise<void>;

  /**
   * Passes a request on and the answer back, as they come and unread. Throws DeploymentStopped, DeploymentStarting or
   * DeploymentUnavailable where there is no process to ask; RuntimeInvalidResponse where it dies or answers with
   * anything but 200 or a refusal; InferenceTimeout after the configured time without an answer, counted from the last
   * of the body; whatever the body throws; and the signal's reason once that is aborted, which also ends the request.
   */
  predict(id: string, call: PredictionCall, signal: AbortSignal): Promise<Prediction>;

  /** The latest lines that its processes wrote, oldest first, at most so many; a bounded number of them is kept. */
  output(id: string, lines: number): string[];

  /** Stops every process; what is being started fails with DeploymentUnavailable. Nothing is started afterwards. */
  close(): Promise<void>;
}
export const ModelServers = port<ModelServers>('deployments.ModelServers');
