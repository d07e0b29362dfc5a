import { injectable } from 'inversify';
import type { Pool } from 'pg';
import { DataSource, In } from 'typeorm';
import { InstanceRegistry } from '../../../application/jobs/ports.js';
import {
  Logger,
  type TaskOptions,
  type TaskWorker,
  Tracer,
  type WorkQueue,
} from '../../../application/shared/ports.js';
import type { Json } from '../../../domain/workspace/json.js';
import { Repeating, resultWithin } from '../../system/scheduling.js';
import { createQueuePool } from '../connections.js';
import { OutageLog } from '../storage-errors.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type Envelope, TaskRunner } from './task-runner.js';

/**
 * A worker and its instance. When an instance dies, others find its workers here and unlock their tasks. The random
 * name that graphile-worker gives a worker does not tell the instance.
 */
interface TaskWorkerRow {
  readonly id: string;
  readonly instance: number;
}

export const TaskWorkerTable = defineTable<TaskWorkerRow>('task_workers', {
  id: { type: 'text', primary: true },
  instance: { type: 'integer' },
});

const MAINTENANCE_PAUSE_MS = 2_000;
/** The connections for statements of the queue. Each kind of task has one more connection that listens. */
const STATEMENTS_AT_ONCE = 4;
const MAX_ATTEMPTS = 10;
/** The highest limit of attempts in graphile-worker, so that graphile-worker itself never gives up a task. */
const NEVER = 32_767;

// The ORM cannot call functions.

const ADD = `
  SELECT graphile_worker.add_job($1, payload => $2::json, queue_name => $3, max_attempts => ${NEVER}, job_key => $4,
           job_key_mode => CASE WHEN $4::text IS NULL THEN 'replace' ELSE 'unsafe_dedupe' END)`;

/**
 * Changes nothing if the task was attempted again meanwhile. The change would take that attempt back. A further attempt
 * can end between the look and the change, so a number that stays the same is not written.
 */
const RESCHEDULE = `
  SELECT graphile_worker.reschedule_jobs(ARRAY[id], attempts => nullif($3::integer, $2::integer),
           run_at => now() + $4::float * interval '1 millisecond')
    FROM graphile_worker.jobs WHERE id = $1 AND attempts = $2::integer`;

const UNLOCK = 'SELECT graphile_worker.force_unlock_workers($1)';

/** Finds workers without a row in `task_workers`, such as those of an earlier version. A worker gets its row first. */
const UNKNOWN = `
  SELECT locked_by AS id FROM graphile_worker._private_jobs WHERE locked_by NOT IN (SELECT id FROM task_workers)
   UNION
  SELECT locked_by FROM graphile_worker._private_job_queues WHERE locked_by NOT IN (SELECT id FROM task_workers)`;

/** Stores, runs and retries tasks by graphile-worker. */
@injectable()
export class GraphileWorkQueue implements WorkQueue {
  private readonly workers = new Map<string, TaskWorker>();
  /** One runner for each kind of task, and also broken runners that still run tasks. */
  private readonly runners = new Set<TaskRunner>();
  /** The workers that have ended. Their tasks must be unlocked. */
  private readonly ended = new Set<string>();
  private readonly maintenance: Repeating;
  private pool: Pool | null = null;
  private instance = 0;

  constructor(
    private readonly source: DataSource,
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly registry: InstanceRegistry,
    private readonly log: Logger,
    private readonly outages: OutageLog,
    private readonly tracer: Tracer,
  ) {
    const failed = (error: unknown) => outages.failed('the work queue', error);
    this.maintenance = new Repeating((stopping) => this.maintain(stopping), MAINTENANCE_PAUSE_MS, failed);
  }

  async enqueue(task: string, payload: Json, options: TaskOptions = {}): Promise<void> {
    const { key = null, queueName = null, maxAttempts = MAX_ATTEMPTS } = options;
    const envelope: Envelope = { payload, maxAttempts, trace: this.tracer.headers() };
    await this.unitOfWork.query(ADD, [task, JSON.stringify(envelope), queueName, key]);
  }

  register(task: string, worker: TaskWorker): void {
    this.workers.set(task, worker);
  }

  async start(): Promise<void> {
    this.instance = await this.registry.own();
    this.pool = createQueuePool(this.source, this.workers.size + STATEMENTS_AT_ONCE);
    this.maintenance.start();
  }

  async instances(): Promise<number[]> {
    return [...new Set((await this.registered.find()).map(({ instance }) => instance))];
  }

  async release(instance: number): Promise<void> {
    const workers = await this.registered.findBy({ instance });
    await this.unlock(workers.map(({ id }) => id));
  }

  async stop(graceMs: number): Promise<void> {
    await resultWithin(this.end(), graceMs);
    void this.pool?.end();
    this.pool = null;
  }

  private async end(): Promise<void> {
    await this.maintenance.stop(MAINTENANCE_PAUSE_MS);
    await Promise.all([...this.runners].map((runner) => runner.stop()));
    await this.unlockEnded().catch(() => undefined); // after a failure, other instances unlock them
  }

  /** Makes sure that each kind of task has a working runner, also after connections broke. */
  private async maintain(stopping: AbortSignal): Promise<void> {
    await this.unlockEnded();
    await this.unlock((await this.unitOfWork.query<{ id: string }>(UNKNOWN)).map(({ id }) => id));
    await this.checkLeases();
    if (stopping.aborted) return;
    for (const runner of this.runners) if (runner.broken) void runner.retire().then(() => this.runners.delete(runner));
    const running = [...this.runners].filter(({ broken }) => !broken).map(({ task }) => task);
    for (const [task, worker] of this.workers)
      if (!running.includes(task)) this.runners.add(this.started(task, worker));
    this.outages.done();
  }

  private async unlockEnded(): Promise<void> {
    const ended = [...this.ended];
    await this.unlock(ended);
    for (const id of ended) this.ended.delete(id);
  }

  /**
   * Aborts the tasks of workers that have lost their row. Another instance removed the row because this instance seemed
   * dead after it hung or lost its connections.
   */
  private async checkLeases(): Promise<void> {
    const known = [...this.runners].map((runner) => ({ runner, workers: runner.workers }));
    const kept = (await this.registered.findBy({ instance: this.instance })).map(({ id }) => id);
    for (const { runner, workers } of known) {
      const lost = workers.filter((id) => !kept.includes(id));
      if (lost.length > 0) runner.loseLeases(lost);
    }
  }

  private started(task: string, worker: TaskWorker): TaskRunner {
    return new TaskRunner(task, worker, {
      tracer: this.tracer,
      pool: this.pool as Pool,
      register: async (id) => {
        await this.registered.insert({ id, instance: this.instance });
      },
      ended: (id) => this.ended.add(id),
      reschedule: async (job, { attempts, pauseMs }) => {
        // If the change fails, the task is due after graphile-worker's usual pause.
        const failed = (error: unknown) => this.outages.failed('the work queue', error, { task });
        await this.unitOfWork.query(RESCHEDULE, [job.id, job.attempts, attempts, pauseMs]).catch(failed);
      },
      failed: (attempt, error) => this.log.warn('a task failed', { task, attempt, error }),
    });
  }

  /** Unlocks the tasks of ended workers, and deletes the rows of these workers. */
  private async unlock(workerIds: readonly string[]): Promise<void> {
    if (workerIds.length === 0) return;
    await this.unitOfWork.readCommitted(async () => {
      await this.unitOfWork.query(UNLOCK, [workerIds]);
      await this.registered.delete({ id: In([...workerIds]) });
    });
  }

  private get registered() {
    return this.unitOfWork.repository(TaskWorkerTable);
  }
}
