import type { Deployment, DeploymentStatus, ServedModel } from '../../domain/deployments/deployment.js';
import type { StoredFile } from '../../domain/deployments/model-file.js';
import type { ByteStream } from '../shared/byte-stream.js';

export abstract class DeploymentRepository {
  abstract add(deployment: Deployment): Promise<void>;
  abstract find(id: string): Promise<Deployment | null>;
  /** All there are, newest first. */
  abstract all(): Promise<Deployment[]>;
  abstract count(): Promise<number>;
  /** Notes where the process listens by now; of a deployment that is gone nothing is noted. */
  abstract notePort(id: string, port: number): Promise<void>;
  /** Makes it `to`'s where it is `from`'s; of any number who try at once, one does. False where it is not, or is gone. */
  abstract claim(id: string, from: number | null, to: number): Promise<boolean>;
  /** What is a process's is nobody's from now on. */
  abstract release(process: number): Promise<void>;
  /** True when there was one. */
  abstract remove(id: string): Promise<boolean>;
}

/** The single files that models are served from. */
export abstract class ModelFileResolver {
  /**
   * The resolved absolute path of an `.onnx` file, given relative to a models folder or absolute within one, symbolic
   * links followed first. Throws ModelFileInvalid, with what is wrong in words, for everything else: what is not there,
   * lies outside the models folders, is no regular file, has another ending, is empty, too large or mostly holes; and
   * for every path with a `..` segment, wherever that leads. Of an absolute path outside the folders the words don't
   * tell whether there is such a file. No file is opened, so none can make it wait.
   */
  abstract locate(path: string): Promise<string>;
}

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
export abstract class ModelServer {
  /**
   * Starts a process and resolves to its port once it has proved its health; from then on it is started again, with a
   * growing delay, whenever it dies. Throws ModelFileInvalid where the file can't be served, with the loader's reason,
   * DeploymentUnavailable where the proof does not come in time, and the signal's reason once that is aborted. Nothing
   * is left behind then.
   */
  abstract start(id: string, model: ServedModel, signal: AbortSignal): Promise<number>;

  /**
   * For what ran before the service ended: returns at once. It is `starting` until its turn has come, since only a few
   * begin at a time. One that fails is tried again with a growing delay, and is `crash_looping` in between.
   */
  abstract resume(id: string, model: ServedModel): void;

  /**
   * Asks the process for a proof that only it can give, afresh each time and for at most a second: without it nothing
   * is `running`. `stopped` for an id that was not started here.
   */
  abstract probe(id: string): Promise<ServerState>;

  /** Of all that were started or resumed here and not stopped, whatever became of their processes. */
  abstract ids(): readonly string[];

  /** Resolves once the process is gone, by force if need be. Stopping what does not run is done. */
  abstract stop(id: string): Promise<void>;

  /**
   * Passes a request on and the answer back, as they come and unread. Throws DeploymentStopped, DeploymentStarting or
   * DeploymentUnavailable where there is no process to ask; RuntimeInvalidResponse where it dies or answers with
   * anything but 200 or a refusal; InferenceTimeout after the configured time without an answer, counted from the last
   * of the body; whatever the body throws; and the signal's reason once that is aborted, which also ends the request.
   */
  abstract predict(id: string, call: PredictionCall, signal: AbortSignal): Promise<Prediction>;

  /** The latest lines that its processes wrote, oldest first, at most so many; a bounded number of them is kept. */
  abstract output(id: string, lines: number): string[];

  /** Stops every process; what is being started fails with DeploymentUnavailable. Nothing is started afterwards. */
  abstract close(): Promise<void>;
}

export interface StoredFiles {
  /** By their paths. */
  readonly files: readonly StoredFile[];
  /** There is more than was looked at. */
  readonly truncated: boolean;
}

export interface WrittenFile extends StoredFile {
  /** There was a file of this path before. */
  readonly replaced: boolean;
  /** Of the content, in hex. */
  readonly sha256: string;
}

/** What is in the models folders, of which one can be written. Paths obey `ModelFile.path`. */
export abstract class ModelFileStore {
  /**
   * The regular files of all models folders; with `at`, those in the folder of this path, or the file itself. Of files
   * with one path it shows the one that a model of this path is. Hidden ones are left out, and all that links lead to
   * outside of the models folders. Looks at a bounded number of entries.
   */
  abstract list(at?: string): Promise<StoredFiles>;
  /**
   * Keeps the bytes, piece by piece as they come, in place of what was there: until all are there nobody sees any, and if
   * they break off nobody ever does. Of writes to one path at once, one wins as a whole. Throws what `bytes` throws,
   * InvalidRequest where a folder has this path, a file that of one of its folders, or a link leads elsewhere, and
   * StorageUnavailable when the disk takes no more.
   */
  abstract write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile>;
  /**
   * Removes, all at once, a file, or a folder with all that is in it, and the folders above that are empty then. False
   * when there is none of this path in the folder that can be written.
   */
  abstract remove(path: string): Promise<boolean>;
}
