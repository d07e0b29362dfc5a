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

/** A model file or folder on the local disk, complete, for a process to load. */
export interface LocalCopy {
  /** Absolute, symbolic links resolved. */
  readonly path: string;
  /** Must be called when no process needs the copy any more. */
  release(): void;
}

/**
 * Brings models to the local disk. Paths are relative to a models folder or absolute within one. A copy has the version
 * that is stored now, or the last one that was brought here while the store is out of reach. It stays until its release.
 */
export abstract class ModelFileResolver {
  /**
   * Returns an `.onnx` file, beside the files that hold parts of it. Throws ModelFileInvalid with a reason for a missing
   * file, a file outside the models folders or of another kind, an empty, too large or sparse file, and a path with a
   * `..` segment. The reason never reveals whether a file outside the folders exists. Opens no file of a models folder,
   * so that none can block it. Throws StorageUnavailable for a file that cannot be brought here now, and the signal's
   * reason.
   */
  abstract materializeFile(path: string, signal: AbortSignal): Promise<LocalCopy>;

  /** Returns whether there is such a folder within the models folders; true while only the store could tell and is away. */
  abstract hasFolder(path: string): Promise<boolean>;

  /** Returns a folder with all its files, or null if there is none. Throws StorageUnavailable, and the signal's reason. */
  abstract materializeFolder(path: string, signal: AbortSignal): Promise<LocalCopy | null>;
}

/** The state of a deployment on this instance. */
export interface ServerState {
  readonly status: DeploymentStatus;
  /** The address that serves the model, or the last one; null before there was one. */
  readonly url: string | null;
  /** Says why the model is not served; null while it is. */
  readonly reason: string | null;
  /** Counts the restarts since the deployment was started here. */
  readonly restarts: number;
}

/** `predict` takes the service's own form of a prediction or the protocol's. The others are the Open Inference Protocol's. */
export type ModelOperation =
  | 'predict'
  | 'infer'
  | 'model_metadata'
  | 'model_ready'
  | 'server_metadata'
  | 'server_live'
  | 'server_ready';

export interface ModelRequest {
  readonly operation: ModelOperation;
  /** The version of the model that the caller names, if any. */
  readonly version: string | null;
  /** Is null for an operation that only reads. Has no content coding. */
  readonly body: ByteStream | null;
  /** The bytes of JSON at the beginning of the body, if binary tensors follow them. */
  readonly jsonLength: number | null;
  /** Goes into the error envelope. */
  readonly requestId: string;
  /** The headers with which the model continues the present trace. */
  readonly trace?: Readonly<Record<string, string>>;
}

/** The answer of a model, with the headers that matter to a caller. */
export interface ModelAnswer {
  /** 200, a 4xx in the error envelope, or 504 for a request that waited too long at the model. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Holds the whole body once it has arrived. A long one comes as a stream, which throws when the connection breaks off. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * Serves the models of deployments on this instance. Ids are those of deployments. Remembers nothing across restarts of
 * the service.
 */
export abstract class ModelServer {
  /**
   * Begins to serve a model and returns its address once it has proved that it is ready. Serves it again whenever it
   * fails. Leaves nothing behind when it throws: the reason why the model cannot be served, DeploymentUnavailable when the
   * proof does not come in time or this instance has no room, and the signal's reason.
   */
  abstract start(id: string, model: ServedModel, signal: AbortSignal): Promise<string>;

  /**
   * Begins to serve a model in the background. The status is `starting` until it is ready, and `stopped` with a reason
   * until this instance has room for it. A start that fails is retried with a growing delay.
   */
  abstract resume(id: string, model: ServedModel): void;

  /**
   * Asks the model for a fresh proof, for at most a second. Without the proof nothing is `running`. Returns `stopped` for
   * an id that was not started here.
   */
  abstract probe(id: string): Promise<ServerState>;

  /** Returns the ids that were started or resumed here and not stopped. */
  abstract ids(): readonly string[];

  /** Resolves once this instance serves the model no more. Does nothing when it does not. */
  abstract stop(id: string): Promise<void>;

  /**
   * Streams a request to the model and its answer back. Answers name the model as the deployment is named. Throws
   * DeploymentStopped, DeploymentStarting or DeploymentUnavailable when the model is not served; NotFound for a version
   * that it does not have; RuntimeInvalidResponse when a process breaks off or the answer is not one of the operation;
   * ModelBusy and InvalidRequest when an engine elsewhere says so; InferenceTimeout when no answer came within the
   * configured time after the body, or a long body stalled as long; what the body throws; and the signal's reason, which
   * also ends the request. Waits for a short body until it ends or the signal aborts.
   */
  abstract request(id: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;

  /**
   * Has the engine of a remote model load or unload it, if the engine manages models and is willing. Takes a bounded time,
   * and succeeds also while the engine is away. Does nothing for a local model.
   */
  abstract setLoaded(model: ServedModel, loaded: boolean): Promise<void>;

  /** Returns at most `lines` of the latest lines of output, oldest first. Keeps a bounded number. */
  abstract output(id: string, lines: number): Promise<string[]>;

  /** Ends serving on this instance. Running and later starts fail with DeploymentUnavailable. */
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

/** A file that is open for reading. When another file takes its place, the content stays, or the chunks throw. */
export interface OpenedFile {
  /** Yields the content from the beginning. Can be called again. */
  chunks(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Stores files in the models folders. One folder, or one bucket, can be written. Paths obey `ModelFile.path`. Each method
 * throws StorageUnavailable while the bucket is out of reach.
 */
export abstract class ModelFileStore {
  /**
   * Returns the regular files of all models folders; with `at`, those of this folder, or this file. When several folders
   * hold the same path, returns the file that this path resolves to. Leaves out hidden files, links that lead out of the
   * models folders, and objects whose names `ModelFile.path` refuses. Reads a bounded number of entries.
   */
  abstract list(at?: string): Promise<StoredFiles>;
  /** Returns null if there is no such file. */
  abstract open(path: string): Promise<OpenedFile | null>;
  /**
   * Writes a file atomically: nobody sees a part of it, and of concurrent writes to one path one wins as a whole. Throws
   * what `bytes` throws, InvalidRequest when the path is a folder, crosses a file or follows a link elsewhere, and
   * StorageUnavailable when the disk is full.
   */
  abstract write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Removes a file or a folder with its content, and parent folders that are empty then: atomically in a folder of the
   * disk, file by file in a bucket. Returns false when there is no such path that can be written.
   */
  abstract remove(path: string): Promise<boolean>;
}
