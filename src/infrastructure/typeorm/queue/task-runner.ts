import { EventEmitter } from 'node:events';
import { type Job, Logger, runTaskList, type Task, type Worker, type WorkerPool } from 'graphile-worker';
import type { Pool } from 'pg';
import type { TaskOptions, TaskWorker, TraceHeaders, Tracer } from '../../../application/shared/ports.js';
import { RetryAfter } from '../../../application/shared/retry-after.js';
import type { Json } from '../../../domain/workspace/json.js';

/** The limit of one attempt. After four hours, graphile-worker would give the task to another worker. */
const LONGEST_RUN_MS = 60 * 60 * 1000;
/** Tasks that become due later, or were added during an outage, start within this time. Others start at once. */
const POLL_INTERVAL_MS = 2_000;

/** The stored payload. It holds the limit of attempts, because graphile-worker's own limit ends a task silently. */
export interface Envelope {
  readonly payload: Json;
  readonly maxAttempts: Required<TaskOptions>['maxAttempts'];
  /** The trace of the cause. Tasks of earlier versions have none. */
  readonly trace?: TraceHeaders;
}

/** Thrown if another instance may run the task. */
class LeaseLost extends Error {}

/** Thrown to end an attempt. The task is due again after `pauseMs`, and has used `attempts` attempts. */
class Postponed extends Error {
  constructor(
    reason: unknown,
    readonly attempts: number,
    readonly pauseMs: number,
  ) {
    super(messageOf(reason));
  }
}

interface Dependencies {
  readonly tracer: Tracer;
  readonly pool: Pool;
  /** Awaited before a worker takes its first task. */
  readonly register: (workerId: string) => Promise<void>;
  /** Called when a worker has ended. Its tasks can be unlocked. */
  readonly ended: (workerId: string) => void;
  readonly reschedule: (job: Job, change: Postponed) => Promise<void>;
  readonly failed: (attempt: number, error: unknown) => void;
}

interface RunningTask {
  readonly workerId: string;
  readonly abort: AbortController;
}

/**
 * Runs the tasks of one name with a pool of graphile-worker's workers. Uses `runTaskList`, which is graphile-worker's
 * `run` without cron. If the database failed at a wrong moment, cron would end the instance by an unhandled rejection.
 */
export class TaskRunner {
  /**
   * True after a worker ended or failed to take a task. graphile-worker does not replace workers, and a task may stay
   * locked without a worker. So the runner must be retired and replaced.
   */
  broken = false;
  /** The workers that have a row in `task_workers`, so that other instances know them. */
  private readonly registered = new Set<string>();
  private readonly running = new Map<string, RunningTask>();
  private readonly pending = new Set<Promise<void>>();
  private readonly pool: WorkerPool;
  private ending: Promise<void> | null = null;
  private stopping = false;

  constructor(
    readonly task: string,
    private readonly worker: TaskWorker,
    private readonly dependencies: Dependencies,
  ) {
    const register = async (_: unknown, { worker }: { worker: Worker }) => {
      await dependencies.register(worker.workerId);
      this.registered.add(worker.workerId);
    };
    const options = {
      concurrency: worker.atOnce,
      pollInterval: POLL_INTERVAL_MS,
      noHandleSignals: true,
      logger: silent,
      events: this.events(),
      preset: { plugins: [{ name: 'tenon', version: '1', worker: { hooks: { startWorker: register } } }] },
    };
    this.pool = runTaskList(options, { [task]: this.perform }, dependencies.pool);
  }

  get workers(): string[] {
    return [...this.registered];
  }

  /** Aborts the tasks of these workers, because another instance has unlocked the tasks. */
  loseLeases(workerIds: readonly string[]): void {
    this.broken = true;
    for (const { workerId, abort } of this.running.values())
      if (workerIds.includes(workerId)) abort.abort(new LeaseLost('another instance took it over'));
  }

  /** Starts no more tasks. Resolves when the running tasks have ended. */
  async retire(): Promise<void> {
    this.ending ??= this.pool.gracefulShutdown();
    await this.ending;
    await Promise.all(this.pending);
  }

  /** Starts no more tasks and aborts the running tasks. Resolves when they have ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    for (const { abort } of this.running.values()) abort.abort(new Error('the instance shuts down'));
    await this.retire();
  }

  private events(): EventEmitter {
    const events = new EventEmitter();
    const broken = () => {
      this.broken = true;
    };
    events.on('worker:getJob:error', broken);
    events.on('worker:stop', ({ worker }: { worker: Worker }) => {
      this.registered.delete(worker.workerId);
      this.dependencies.ended(worker.workerId);
      if (!this.ending) broken();
    });
    events.on('job:complete', ({ job, error }: { job: Job; error: unknown }) => {
      if (!(error instanceof Postponed)) return;
      const done = this.dependencies.reschedule(job, error).finally(() => this.pending.delete(done));
      this.pending.add(done);
    });
    return events;
  }

  private readonly perform: Task = async (stored, { job }) => {
    const { payload, maxAttempts, trace = {} } = stored as Envelope;
    const { id, attempts: number, locked_by: workerId } = job;
    if (this.stopping) throw new Postponed('the instance shuts down', number - 1, 0);
    // graphile-worker takes tasks even after a failed registration. If this instance died, nobody would unlock them.
    if (!workerId || !this.registered.has(workerId))
      throw new Postponed('its worker is not registered', number - 1, POLL_INTERVAL_MS);
    // The instance died in the last attempt, or during `gaveUp`.
    if (number > maxAttempts) return this.worker.gaveUp(payload, job.last_error ?? 'its instance died');
    const abort = new AbortController();
    const { signal } = abort;
    const tooLong = setTimeout(() => abort.abort(new Error('an hour is over')), LONGEST_RUN_MS).unref();
    this.running.set(id, { workerId, abort });
    try {
      const attributes = { 'tenon.task.attempt': number };
      await this.dependencies.tracer.trace(`task ${this.task}`, { kind: 'consumer', cause: trace, attributes }, () =>
        this.worker.run(payload, { number, signal }),
      );
      // Without this error, graphile-worker would remove the task, although another worker may run it now.
      if (signal.reason instanceof LeaseLost) throw signal.reason;
    } catch (error) {
      if (signal.reason instanceof LeaseLost) throw error;
      if (signal.aborted) throw new Postponed(error, number - 1, 0);
      if (error instanceof RetryAfter && !error.counts) throw new Postponed(error, number - 1, error.pauseMs);
      this.dependencies.failed(number, error);
      if (number >= maxAttempts) await this.worker.gaveUp(payload, messageOf(error));
      else throw error instanceof RetryAfter ? new Postponed(error, number, error.pauseMs) : error;
    } finally {
      clearTimeout(tooLong);
      this.running.delete(id);
    }
  };
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

/** graphile-worker's log is not needed, because events or the next look at the queue report its faults. */
const silent = new Logger(() => () => undefined);
