import { EventEmitter } from 'node:events';
import { Logger, runTaskListOnce, type Task, type WorkerPool } from 'graphile-worker';
import type { Pool, PoolClient } from 'pg';
import type { TaskOptions, TaskWorker } from '../../../application/shared/ports.js';
import type { Json } from '../../../domain/workspace/json.js';

/** Well below the four hours after which graphile-worker takes a worker for dead. */
const LONGEST_RUN_MS = 60 * 60 * 1000;

/** What is stored of a task: graphile-worker's own count must never end it, so the most attempts stand in here. */
export interface Envelope {
  readonly payload: Json;
  readonly maxAttempts: Required<TaskOptions>['maxAttempts'];
}

/** A task that broke off: it counts as begun only so often. */
export interface BrokenOff {
  readonly id: string;
  readonly attempts: number;
}

interface Surroundings {
  /** Tells the slot from all others that there ever are. */
  readonly workerId: string;
  readonly pool: Pool;
  readonly failed: (attempt: number, error: unknown) => void;
}

/** Room for one task of a name at a time. */
export class TaskSlot {
  /** A task may be locked for it that it does not know of: it is of no more use, and what it has locked must be unlocked. */
  broken = false;
  private readonly events = new EventEmitter();
  private readonly options;
  private readonly client: PoolClient;
  private breakOff = new AbortController();
  private brokenOff: BrokenOff[] = [];
  private pool: WorkerPool | null = null;
  private looking = false;

  constructor(
    readonly task: string,
    private readonly worker: TaskWorker,
    private readonly around: Surroundings,
  ) {
    const { workerId, pool } = around;
    this.options = { workerId, events: this.events, noHandleSignals: true, logger: silent };
    // Short statements, each on whatever connection is free.
    this.client = { query: pool.query.bind(pool) } as unknown as PoolClient;
    this.events.on('worker:getJob:start', () => {
      this.looking = true;
      if (this.breakOff.signal.aborted) void this.pool?.worker?.release();
    });
    for (const fault of ['worker:getJob:error', 'worker:fatalError']) {
      this.events.on(fault, () => {
        this.broken = true;
      });
    }
  }

  get workerId(): string {
    return this.around.workerId;
  }

  get busy(): boolean {
    return this.pool !== null || this.broken;
  }

  /** Runs tasks, one after another, until none is due or it is to end; resolves to those that broke off. */
  async work(): Promise<BrokenOff[]> {
    this.pool = runTaskListOnce(this.options, { [this.task]: this.run }, this.client);
    await this.pool.promise;
    this.pool = null;
    this.looking = false;
    this.breakOff = new AbortController();
    return this.brokenOff.splice(0);
  }

  /** What runs breaks off, and nothing follows it. */
  end(): void {
    this.breakOff.abort();
    // A worker that has not begun to look must not be let go: it ends when it begins.
    if (this.looking) void this.pool?.worker?.release();
  }

  private readonly run: Task = async (stored, { job }) => {
    const { payload, maxAttempts } = stored as Envelope;
    const { signal } = this.breakOff;
    const broken = () => this.brokenOff.push({ id: job.id, attempts: job.attempts - 1 });
    if (signal.aborted) {
      broken();
      signal.throwIfAborted();
    }
    // The process died in the last attempt, or in giving up.
    if (job.attempts > maxAttempts) return this.worker.gaveUp(payload, job.last_error ?? 'its process died');
    const tooLong = setTimeout(() => this.end(), LONGEST_RUN_MS).unref();
    try {
      await this.worker.run(payload, { number: job.attempts, signal });
    } catch (error) {
      if (signal.aborted) broken();
      else this.around.failed(job.attempts, error);
      if (signal.aborted || job.attempts < maxAttempts) throw error;
      await this.worker.gaveUp(payload, error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(tooLong);
    }
  };
}

/** What it has to say is either said by the queue or shows when the queue looks next. */
const silent = new Logger(() => () => undefined);
