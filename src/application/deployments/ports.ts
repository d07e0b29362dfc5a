import type { Deployment, DeploymentStatus, ServedModel } from '../../domain/deployments/deployment.js';
import type { StoredFile } from '../../domain/deployments/model-file.js';
import type { WithMemory } from '../shared/memory-budget.js';
import type { ByteStream } from '../shared/ports.js';

export abstract class DeploymentRepository {
  abstract add(deployment: Deployment): Promise<void>;
  abstract find(id: string): Promise<Deployment | null>;
  /** Returns a deployment, and whether there are budgets of these scopes, with one statement. */
  abstract findFor(
    id: string,
    scopes: readonly string[],
  ): Promise<{ deployment: Deployment; hasBudgets: boolean } | null>;
  /** Returns all deployments, newest first. */
  abstract all(): Promise<Deployment[]>;
  abstract count(): Promise<number>;
  /** Returns false when there was no such deployment. */
  abstract remove(id: string): Promise<boolean>;
}

/** A complete model file or folder on the local disk, which a process can load. */
export interface LocalCopy {
  /** An absolute path without symbolic links. */
  readonly path: string;
  /** Releases the copy. Call this when no process needs it any more. */
  release(): void;
}

/**
 * Copies models to the local disk. A path is relative to a models folder, or absolute within a models folder. A copy
 * has the stored version. While the store is out of reach, a copy has the last version that was copied. A copy stays
 * until it is released.
 */
export abstract class ModelFileResolver {
  /**
   * Returns an `.onnx` file. Files with its external data are beside it. Throws ModelFileInvalid with a reason for a
   * missing file, a file outside the models folders or of another kind, an empty, too large or sparse file, and a path
   * with a `..` segment. The reason never reveals whether a file outside the folders exists. Opens no file of a models
   * folder, because opening a named pipe could block. Throws StorageUnavailable for a file that cannot be copied now,
   * and the signal's reason.
   */
  abstract materializeFile(path: string, signal: AbortSignal): Promise<LocalCopy>;

  /** Tells whether the models folders have this folder. Returns true if an unreachable store might have it. */
  abstract hasFolder(path: string): Promise<boolean>;

  /** Returns a whole folder, or null if it does not exist. Throws StorageUnavailable and the signal's reason. */
  abstract materializeFolder(path: string, signal: AbortSignal): Promise<LocalCopy | null>;
}

/** The state of a deployment on this instance. */
export interface ServerState {
  readonly status: DeploymentStatus;
  /** The URL that serves the model, or the last such URL. Null before the first. */
  readonly url: string | null;
  /** Says why the model is not served. Null while it is served. */
  readonly reason: string | null;
  /** Counts the restarts since the deployment was started here. */
  readonly restarts: number;
}

/** The operations of the Open Inference Protocol, and `predict`, which also accepts the service's own format. */
export type ModelOperation =
  | 'predict'
  | 'infer'
  | 'model_metadata'
  | 'model_ready'
  | 'server_metadata'
  | 'server_live'
  | 'server_ready';

export interface ModelRequest extends WithMemory {
  readonly operation: ModelOperation;
  /** The version of the model that the caller names, if any. */
  readonly version: string | null;
  /** The body, never compressed, or null for an operation that only reads. */
  readonly body: ByteStream | null;
  /** The length in bytes of the JSON at the beginning of the body. Null if no binary tensors follow. */
  readonly jsonLength: number | null;
  /** The id that the error envelope names. */
  readonly requestId: string;
  /** The headers that let the model continue the present trace. */
  readonly trace?: Readonly<Record<string, string>>;
}

/** The answer of a model, with the headers that matter to a caller. */
export interface ModelAnswer {
  /** 200, a 4xx status with the error envelope, or 504 for a request that waited too long in the model server. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or a stream if the body is long. The stream throws if the connection breaks. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * Serves the models of deployments on this instance. The ids are the ids of deployments. Remembers nothing after a
 * restart of the service.
 */
export abstract class ModelServer {
  /**
   * Begins to serve a model. Returns its URL after the model has proved that it is ready. Starts the model again
   * whenever it fails later. Throws the reason why the model cannot be served. Throws DeploymentUnavailable if the
   * proof does not come in time or this instance has no room. Throws the signal's reason. Leaves nothing behind when it
   * throws.
   */
  abstract start(id: string, model: ServedModel, signal: AbortSignal): Promise<string>;

  /**
   * Begins to serve a model in the background. The status is `starting` until the model is ready. The status is
   * `stopped` with a reason while this instance has no room for the model. A failed start is retried with a growing
   * delay.
   */
  abstract resume(id: string, model: ServedModel): void;

  /**
   * Asks the model for a new proof and waits at most a second. The status is `running` only with this proof. Returns
   * `stopped` for an id that was not started here.
   */
  abstract probe(id: string): Promise<ServerState>;

  /** Returns the ids that were started or resumed here and not stopped. With `kind`, only those of such models. */
  abstract ids(kind?: ServedModel['kind']): readonly string[];

  /** Stops serving a model. Resolves when its process has ended. Does nothing for an unknown id. */
  abstract stop(id: string): Promise<void>;

  /**
   * Streams a request to the model and returns its answer. In answers, the model has the name of the deployment. Waits
   * for a short request body until it ends or the signal aborts. Aborting the signal ends the request.
   *
   * - Throws DeploymentStopped, DeploymentStarting or DeploymentUnavailable if the model is not served.
   * - Throws NotFound for a version that the model does not have.
   * - Throws RuntimeInvalidResponse if the process breaks the connection, or if the answer does not fit the operation.
   * - Throws ModelBusy or InvalidRequest if an engine elsewhere refuses the request.
   * - Throws InferenceTimeout if no answer comes within the configured time after the request body, or if the model
   *   stalls for this time while it takes the request or gives the answer. Waiting for the body's sender has no limit.
   * - Throws what the body throws, and the signal's reason.
   */
  abstract request(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;

  /**
   * Asks the engine of a remote model to load or unload the model. Takes a bounded time. Succeeds also if the engine
   * does not manage models, refuses, or is out of reach. Does nothing for a local model.
   */
  abstract setLoaded(model: ServedModel, loaded: boolean): Promise<void>;

  /** Returns the latest lines of output, at most `lines`, oldest first. Only a bounded number of lines is kept. */
  abstract output(id: string, lines: number): Promise<string[]>;

  /** Stops all models on this instance. Unfinished and later starts fail with DeploymentUnavailable. */
  abstract close(): Promise<void>;
}

export interface StoredFiles {
  /** Sorted by path. */
  readonly files: readonly StoredFile[];
  /** True if the folders have more entries than were read. */
  readonly truncated: boolean;
}

export interface WrittenFile extends StoredFile {
  /** True if the file replaced another file. */
  readonly replaced: boolean;
  /** The SHA-256 of the content in hex. */
  readonly sha256: string;
}

/** A file that is open for reading. If another file replaces it, the chunks have the old content, or throw. */
export interface OpenedFile {
  /** Yields the content from the beginning. Can be called again. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Stores files in the models folders. Only one folder, or one bucket, can be written. All paths are valid for
 * `ModelFile.path`. Each method throws StorageUnavailable while the bucket is out of reach.
 */
export abstract class ModelFileStore {
  /**
   * Returns the regular files of all models folders. With `at`, returns only this file, or the files of this folder. If
   * several models folders have the same path, returns the file that the path resolves to. Omits hidden files, links to
   * files outside the models folders, and objects with names that `ModelFile.path` refuses. Reads a bounded number of
   * entries.
   */
  abstract list(at?: string): Promise<StoredFiles>;
  /** Returns the bytes of all files in the writable folder or bucket, however many, without the file `except`. */
  abstract uploadedBytes(except?: string): Promise<number>;
  /** Returns null if there is no such file. */
  abstract open(path: string): Promise<OpenedFile | null>;
  /**
   * Writes a file atomically: no reader sees a part of it, and concurrent writes to one path do not mix. Throws what
   * `bytes` throws. Throws InvalidRequest if the path is a folder, has a file as its parent, or follows a link to
   * another place. Of racing writes to a path and to a path below it, only one succeeds. Throws StorageUnavailable if
   * the disk is full.
   */
  abstract write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Removes a file or a folder with its content, and parent folders that become empty. The removal is atomic on a disk,
   * and file by file in a bucket. Returns false if the writable folder or bucket has no such path.
   */
  abstract remove(path: string): Promise<boolean>;
}
