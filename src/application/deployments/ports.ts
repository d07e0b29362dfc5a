import type { Deployment, DeploymentStatus, ServedModel } from '../../domain/deployments/deployment.js';
import type { StoredFile } from '../../domain/deployments/model-file.js';
import type { ByteStream } from '../shared/ports.js';

export abstract class DeploymentRepository {
  abstract add(deployment: Deployment): Promise<void>;
  abstract find(id: string): Promise<Deployment | null>;
  /** Returns all deployments, newest first. */
  abstract all(): Promise<Deployment[]>;
  abstract count(): Promise<number>;
  /** Returns false when there was no such deployment. */
  abstract remove(id: string): Promise<boolean>;
}

/** Resolves the paths of model files. */
export abstract class ModelFileResolver {
  /**
   * Returns the absolute path of an `.onnx` file, symbolic links resolved. `path` is relative to a models folder or
   * absolute within one. Throws ModelFileInvalid with a reason for a missing file, a file outside the models folders or
   * of another kind, an empty, too large or sparse file, and a path with a `..` segment. The reason never reveals
   * whether a file outside the folders exists. Opens no file, so that none can block it.
   */
  abstract locate(path: string): Promise<string>;
}

/** The state of a deployment's serving process on this instance. */
export interface ServerState {
  readonly status: DeploymentStatus;
  /** The port of the process, or of the last one; null before the first one listened. */
  readonly port: number | null;
  /** Says why the process does not run; null while it runs. */
  readonly reason: string | null;
  /** Counts the restarts since the deployment was started here. */
  readonly restarts: number;
}

export interface PredictionCall {
  readonly body: ByteStream;
  /** Goes into the error envelope. */
  readonly requestId: string;
}

/** The answer of a serving process, with the headers that matter to a caller. */
export interface Prediction {
  /** 200, a 4xx in the error envelope, or 504 for a request that waited too long in the process. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Throws when the process breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** True when the whole body has arrived. */
  readonly complete: boolean;
}

/**
 * Serves each model file by a process of its own, which listens on a port of 127.0.0.1. Ids are those of deployments.
 * Remembers nothing across restarts of the service.
 */
export abstract class ModelServer {
  /**
   * Starts a process and returns its port once it has proved its health. Restarts it with a growing delay whenever it
   * dies. Leaves nothing behind when it throws: TooManyProcesses when this instance has no room for it, ModelFileInvalid
   * with the loader's reason, DeploymentUnavailable when the proof does not come in time, and the signal's reason.
   */
  abstract start(id: string, model: ServedModel, signal: AbortSignal): Promise<number>;

  /**
   * Starts a process in the background. The status is `starting` until its turn comes, because only two load at a time,
   * and `stopped` with a reason until this instance has room for it. A start that fails is retried with a growing delay
   * and is `crash_looping` in between.
   */
  abstract resume(id: string, model: ServedModel): void;

  /**
   * Asks the process for a fresh proof that only it can give, for at most a second. Without the proof nothing is
   * `running`. Returns `stopped` for an id that was not started here.
   */
  abstract probe(id: string): Promise<ServerState>;

  /** Returns the ids that were started or resumed here and not stopped. */
  abstract ids(): readonly string[];

  /** Resolves once the process is gone, killed if need be. Does nothing when none runs. */
  abstract stop(id: string): Promise<void>;

  /**
   * Streams a request to the process and its answer back. Throws DeploymentStopped, DeploymentStarting or
   * DeploymentUnavailable without a process; RuntimeInvalidResponse when it dies or answers with an unexpected status;
   * InferenceTimeout when no answer came within the configured time after the body; what the body throws; and the
   * signal's reason, which also ends the request.
   */
  abstract predict(id: string, call: PredictionCall, signal: AbortSignal): Promise<Prediction>;

  /** Returns at most `lines` of the latest lines that its processes wrote, oldest first. Keeps a bounded number. */
  abstract output(id: string, lines: number): string[];

  /** Stops every process. Running and later starts fail with DeploymentUnavailable. */
  abstract close(): Promise<void>;
}

export interface StoredFiles {
  /** Sorted by path. */
  readonly files: readonly StoredFile[];
  /** True when the folders hold more than was read. */
  readonly truncated: boolean;
}

export interface WrittenFile extends StoredFile {
  /** True when the file took the place of another. */
  readonly replaced: boolean;
  /** The SHA-256 of the content in hex. */
  readonly sha256: string;
}

/** Stores files in the models folders. One folder can be written. Paths obey `ModelFile.path`. */
export abstract class ModelFileStore {
  /**
   * Returns the regular files of all models folders; with `at`, those of this folder, or this file. When several folders
   * hold the same path, returns the file that this path resolves to. Leaves out hidden files and links that lead out of
   * the models folders. Reads a bounded number of entries.
   */
  abstract list(at?: string): Promise<StoredFiles>;
  /**
   * Writes a file atomically: nobody sees a part of it, and of concurrent writes to one path one wins as a whole. Throws
   * what `bytes` throws, InvalidRequest when the path is a folder, crosses a file or follows a link elsewhere, and
   * StorageUnavailable when the disk is full.
   */
  abstract write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Atomically removes a file or a folder with its content, and parent folders that are empty then. Returns false when
   * the writable folder has no such path.
   */
  abstract remove(path: string): Promise<boolean>;
}
