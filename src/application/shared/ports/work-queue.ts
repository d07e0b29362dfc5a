import type { Json } from '../../../domain/workspace/json.js';
import { port } from '../port.js';

export interface TaskOptions {
  /** While a task with this key waits or runs, no other one with it is added. At most 512 characters. */
  readonly key?: string;
  /** Not before this moment. Default: as soon as a worker is free. */
  readonly runAt?: Date;
  /** How often it may be begun before it is given up. Default: 10. */
  readonly maxAttempts?: number;
}

/** One attempt at a task. */
export interface Attempt {
  /** 1 for the first one. */
  readonly number: number;
  /**
   * Aborted when the attempt is to break off for now: this process ends, or it has taken an hour. When `run` throws
   * then, the task is begun again as soon as there is a worker, and this attempt does not count.
   */
  readonly signal: AbortSignal;
}

/** Whoever does the tasks of one name. */
export interface TaskWorker {
  /** How many of them run together, at most, in this process. */
  readonly atOnce: number;
  /** Throws where the task has to be tried again later; what it throws is logged. Has to bear being run again. */
  run(payload: Json, attempt: Attempt): Promise<void>;
  /** The last attempt has failed, or its process died; `reason` is the message of the error. Tried until it succeeds. */
  gaveUp(payload: Json, reason: string): Promise<void>;
}

/**
 * Work to be done later by whatever process of the service has a worker free. A task is never lost, it is never run by
 * two at once, and it is tried again after ever longer pauses where it fails. It may run once more where it was done and
 * that could not be stored.
 */
export interface WorkQueue {
  /** In a unit of work: it is there when the unit commits, and never where it doesn't. */
  enqueue(task: string, payload: Json, options?: TaskOptions): Promise<void>;
  /** Who does the tasks of this name in this process. Before `start`. */
  register(task: string, worker: TaskWorker): void;
  /** From now on workers look for tasks. An outage of the storage is waited out. */
  start(): Promise<void>;
  /** The numbers of the processes by which tasks are being run. */
  holders(): Promise<number[]>;
  /** What a process was running that has died may be begun by others; the attempts count. */
  release(process: number): Promise<void>;
  /** Begins nothing new, has what runs break off, and resolves when it has, or after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}
export const WorkQueue = port<WorkQueue>('shared.WorkQueue');
