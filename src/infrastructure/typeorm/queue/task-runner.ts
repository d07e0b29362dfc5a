import { EventEmitter } from 'node:events';
import { type Job, Logger, runTaskList, type Task, type Worker, type WorkerPool } from 'graphile-worker';
import type { Pool } from 'pg';
import type { TaskOptions, TaskWorker, TraceHeaders, Tracer } from '../../../application/shared/ports.js';
import type { Json } from '../../../domain/workspace/json.js';

/** Well below the four hours after which graphile-worker gives a task to another worker. */
const LONGEST_RUN_MS = 60 * 60 * 1000;
/** Tasks that become due, and those added during an outage, start within this time. Others start at once. */
const POLL_INTERVAL_MS = 2_000;

/** The stored payload. It holds the limit of attempts, because graphile-worker's own limit would end a task silently. */
export interface Envelope {
  readonly payload: Json;
  readonly maxAttempts: Required<TaskOptions>['maxAttempts'];
  /** Names the trace of the cause. Tasks of earlier versions have none. */
  readonly trace?: TraceHeaders;
}

/** Another instance may run the task. */
class LeaseLost extends Error {}

/** Ends an attempt. The task is due again after `pauseMs`, with so many attempts counted. */
class Postponed extends Error {
  constructor(
    reason: unknown,
    readonly attempts: number,
    readonly pauseMs: number,
  ) {
    super(messageOf(reason));
  }
}

interface Surroundings {
  readonly tracer: Tracer;
  readonly pool: Pool;
  /** Awaited before a worker takes its first task. */
  readonly register: (workerId: string) => Promise<void>;
  /** Called when a worker has ended. Its tasks can be unlocked. */
  readonly ended: (workerId: string) => void;
  readonly reschedule: (taskId: string, change: Postponed) => Promise<void>;
  readonly failed: (attempt: number, error: unknown) => void;
}

interface RunningTask {
  readonly workerId: string;
  readonly abort: AbortController;
}

/**
 * Runs the tasks of one name, by a pool of graphile-worker's workers. `runTaskList` is its `run` without cron, which would
 * end the instance by an unhandled rejection if the database failed at the wrong moment.
 */
export class TaskRunner {
  /**
   * True after a worker ended, or failed to take a task. graphile-worker replaces no workers, and the database may hold a
   * lock that no worker knows of, so the runner must be retired and replaced.
   */
  broken = false;
  /** The workers that other instances know of. */
  private readonly registered = new Set<string>();
  private readonly running = new Map<string, RunningTask>();
  private readonly pending = new Set<Promise<void>>();
  private readonly pool: WorkerPool;
  private ending: Promise<void> | null = null;
  private stopping = false;

  constructor(
    readonly task: string,
    private readonly worker: TaskWorker,
    private readonly around: Surroundings,
  ) {
    const register = async (_: unknown, { worker }: { worker: Worker }) => {
      await around.register(worker.workerId);
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
    this.pool = runTaskList(options, { [task]: this.perform }, around.pool);
  }

  get workers(): string[] {
    return [...this.registered];
  }

  /** Aborts the tasks of these workers, since another instance has unlocked them. */
  loseLeases(workerIds: readonly string[]): void {
    this.broken = true;
    for (const { workerId, abort } of this.running.values())
      if (workerIds.includes(workerId)) abort.abort(new LeaseLost('another instance took it over'));
  }

  /** Starts no more tasks. Resolves when the running ones have ended. */
  async retire(): Promise<void> {
    this.ending ??= this.pool.gracefulShutdown();
    await this.ending;
    await Promise.all(this.pending);
  }

  /** Starts no more tasks and aborts the running ones. Resolves when they have ended. */
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
      this.around.ended(worker.workerId);
      if (!this.ending) broken();
    });
    events.on('job:complete', ({ job, error }: { job: Job; error: unknown }) => {
      if (!(error instanceof Postponed)) return;
      const done = this.around.reschedule(job.id, error).finally(() => this.pending.delete(done));
      this.pending.add(done);
    });
    return events;
  }

  private readonly perform: Task = async (stored, { job }) => {
    const { payload, maxAttempts, trace = {} } = stored as Envelope;
    const { id, attempts: number, locked_by: workerId } = job;
    if (this.stopping) throw new Postponed('the instance shuts down', number - 1, 0);
    // After a failed registration graphile-worker takes tasks anyway. Nobody would unlock them if this instance died.
    if (!workerId || !this.registered.has(workerId))
      throw new Postponed('its worker is not registered', number - 1, POLL_INTERVAL_MS);
    // The instance died in the last attempt, or while it gave up.
    if (number > maxAttempts) return this.worker.gaveUp(payload, job.last_error ?? 'its instance died');
    const abort = new AbortController();
    const { signal } = abort;
    const tooLong = setTimeout(() => abort.abort(new Error('an hour is over')), LONGEST_RUN_MS).unref();
    this.running.set(id, { workerId, abort });
    try {
      const attributes = { 'tenon.task.attempt': number };
      await this.around.tracer.trace(`task ${this.task}`, { kind: 'consumer', cause: trace, attributes }, () =>
        this.worker.run(payload, { number, signal }),
      );
      // graphile-worker would remove the task, whoever runs it now.
      if (signal.reason instanceof LeaseLost) throw signal.reason;
    } catch (error) {
      if (signal.reason instanceof LeaseLost) throw error;
      if (signal.aborted) throw new Postponed(error, number - 1, 0);
      this.around.failed(number, error);
      if (number >= maxAttempts) await this.worker.gaveUp(payload, messageOf(error));
      else throw this.bounded(error, number);
    } finally {
      clearTimeout(tooLong);
      this.running.delete(id);
    }
  };

  /** Bounds the pause before the next attempt, which graphile-worker chooses, by the worker's own limit. */
  private bounded(error: unknown, attempts: number): unknown {
    const { longestPauseMs } = this.worker;
    const pauseMs = Math.exp(Math.min(attempts, 10)) * 1_000;
    return longestPauseMs && longestPauseMs < pauseMs ? new Postponed(error, attempts, longestPauseMs) : error;
  }
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason));

/** Faults are reported through events, or show in the next look at the queue. */
const silent = new Logger(() => () => undefined);
