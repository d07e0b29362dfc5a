import { EventEmitter } from 'node:events';
import { Logger, type RunnerOptions, type RunOnceOptions, runOnce, type Task, type Worker } from 'graphile-worker';
import type { Pool } from 'pg';
import type { TaskOptions, TaskWorker } from '../../../application/shared/ports.js';
import type { Json } from '../../../domain/workspace/json.js';

/** Well below the four hours after which graphile-worker gives a task to another worker. */
const LONGEST_RUN_MS = 60 * 60 * 1000;

/** The stored payload. graphile-worker's own limit of attempts must never end a task, so the limit is part of it. */
export interface Envelope {
  readonly payload: Json;
  readonly maxAttempts: Required<TaskOptions>['maxAttempts'];
}

/** A task that broke off, and the attempts that count. */
export interface BrokenOff {
  readonly id: string;
  readonly attempts: number;
}

interface Surroundings {
  /** Unique among all slots that ever were. */
  readonly workerId: string;
  readonly pool: Pool;
  readonly failed: (attempt: number, error: unknown) => void;
}

/** Runs the tasks of one name, one at a time. */
export class TaskSlot {
  /** The database may hold a lock of this slot that the slot does not know of. The slot must be replaced and unlocked. */
  broken = false;
  busy = false;
  private breakOff = new AbortController();
  private readonly brokenOff: BrokenOff[] = [];
  private readonly options: RunnerOptions & RunOnceOptions;

  constructor(
    readonly task: string,
    private readonly worker: TaskWorker,
    private readonly around: Surroundings,
  ) {
    const events = new EventEmitter();
    const { workerId, pool: pgPool } = around;
    const taskList = { [task]: this.run };
    this.options = { pgPool, taskList, workerId, events, concurrency: 1, noHandleSignals: true, logger: silent };
    events.on('worker:getJob:start', ({ worker }: { worker: Worker }) => {
      if (this.breakOff.signal.aborted) void worker.release();
    });
    for (const fault of ['worker:getJob:error', 'worker:fatalError']) {
      events.on(fault, () => {
        this.broken = true;
      });
    }
  }

  get workerId(): string {
    return this.around.workerId;
  }

  /** Runs tasks until none is due or the slot ends. Returns those that broke off. */
  async work(): Promise<BrokenOff[]> {
    this.busy = true;
    try {
      await runOnce(this.options);
      return this.brokenOff.splice(0);
    } finally {
      this.busy = this.broken;
      this.breakOff = new AbortController();
    }
  }

  /** Makes the current task break off, and starts no other. */
  end(): void {
    this.breakOff.abort();
  }

  private readonly run: Task = async (stored, { job }) => {
    const { payload, maxAttempts } = stored as Envelope;
    const { signal } = this.breakOff;
    const broken = () => this.brokenOff.push({ id: job.id, attempts: job.attempts - 1 });
    if (signal.aborted) {
      broken();
      signal.throwIfAborted();
    }
    // The instance died in the last attempt, or while it gave up.
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

/** Faults are reported through events, or show in the next look at the queue. */
const silent = new Logger(() => () => undefined);
