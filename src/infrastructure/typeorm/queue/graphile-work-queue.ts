import { injectable } from 'inversify';
import { DataSource } from 'typeorm';
import { InstanceRegistry } from '../../../application/jobs/ports.js';
import { Logger, type TaskOptions, type TaskWorker, type WorkQueue } from '../../../application/shared/ports.js';
import type { Json } from '../../../domain/workspace/json.js';
import { Repeating, resultWithin } from '../../system/scheduling.js';
import { OutageLog } from '../storage-errors.js';
import { defineTable } from '../table.js';
import { poolOf, TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type Envelope, TaskSlot } from './task-slot.js';

/** A task in graphile-worker's public view. */
interface TaskRow {
  readonly id: string;
  readonly task: string;
  readonly runAt: Date;
  readonly lockedAt: Date | null;
  readonly lockedBy: string | null;
}

export const TaskView = defineTable<TaskRow>(
  'jobs',
  {
    id: { type: 'bigint', primary: true },
    task: { type: 'text', name: 'task_identifier' },
    runAt: { type: 'timestamptz' },
    lockedAt: { type: 'timestamptz', nullable: true },
    lockedBy: { type: 'text', nullable: true },
  },
  'graphile_worker',
);

const CHANNEL = 'tenon_tasks';
const LOOK_PAUSE_MS = 2_000;
const MAX_ATTEMPTS = 10;
/** The highest limit of attempts in graphile-worker. */
const NEVER = 32_767;

// The ORM calls no functions.

const ADD = `
  SELECT graphile_worker.add_job($1, payload => $2::json, run_at => $3::timestamptz, max_attempts => ${NEVER},
           job_key => $4, job_key_mode => CASE WHEN $4::text IS NULL THEN 'replace' ELSE 'unsafe_dedupe' END),
         pg_notify('${CHANNEL}', $1)`;

const HAND_BACK = `
  SELECT pg_notify('${CHANNEL}', $3)
    FROM graphile_worker.reschedule_jobs(ARRAY[$1::bigint], run_at => now(), attempts => $2::integer)`;

const UNLOCK = 'SELECT graphile_worker.force_unlock_workers($1)';

/** The id of a worker begins with the number of its instance. */
const instanceOf = (workerId: string): number => Number(workerId.split('.')[0]);

/**
 * Stores and retries tasks by graphile-worker, in slots that run its `runOnce` whenever tasks of their name are due. Its
 * `run` would keep a connection for each kind of task, would not replace a worker whose connection broke, and names its
 * workers at random, so that nobody could unlock the tasks of a dead instance.
 */
@injectable()
export class GraphileWorkQueue implements WorkQueue {
  private readonly workers = new Map<string, TaskWorker>();
  private slots: TaskSlot[] = [];
  private readonly working = new Set<Promise<void>>();
  /** The ids of broken slots, whose tasks must be unlocked. */
  private readonly broken = new Set<string>();
  private readonly looking: Repeating;
  /** Closes the connection that listens for new tasks. Null if there is none. */
  private hangUp: (() => void) | null = null;
  private lastSlot = 0;
  private instance = 0;
  private stopping = false;

  constructor(
    private readonly source: DataSource,
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly instances: InstanceRegistry,
    private readonly log: Logger,
    private readonly outages: OutageLog,
  ) {
    const failed = (error: unknown) => outages.failed('the work queue', error);
    this.looking = new Repeating(() => this.look(), LOOK_PAUSE_MS, failed);
  }

  async enqueue(task: string, payload: Json, { key, runAt, maxAttempts = MAX_ATTEMPTS }: TaskOptions = {}) {
    const envelope: Envelope = { payload, maxAttempts };
    await this.unitOfWork.query(ADD, [task, JSON.stringify(envelope), runAt ?? null, key ?? null]);
  }

  register(task: string, worker: TaskWorker): void {
    this.workers.set(task, worker);
  }

  async start(): Promise<void> {
    this.instance = await this.instances.own();
    for (const [task, { atOnce }] of this.workers)
      for (let nth = 0; nth < atOnce; nth++) this.slots.push(this.slot(task));
    this.looking.start();
  }

  async holders(): Promise<number[]> {
    return [...new Set((await this.held()).map(instanceOf))];
  }

  async release(instance: number): Promise<void> {
    const held = (await this.held()).filter((workerId) => instanceOf(workerId) === instance);
    if (held.length > 0) await this.unlock(held);
  }

  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    for (const slot of this.slots) slot.end();
    const ended = Promise.all([...this.working, this.looking.stop(graceMs)]);
    await resultWithin(ended, graceMs);
    this.hangUp?.();
  }

  /** Finds the tasks that no notification told of: those that become due, and those added during an outage. */
  private async look(): Promise<void> {
    if (!this.hangUp) await this.listen();
    for (const workerId of this.broken) {
      await this.unlock([workerId]);
      this.broken.delete(workerId);
    }
    const due = await this.unitOfWork
      .repository(TaskView)
      .createQueryBuilder('task')
      .select('task.task', 'name')
      .addSelect('count(*)::integer', 'count')
      .where('task.task = ANY(:names) AND task.lockedAt IS NULL AND task.runAt <= now()', {
        names: [...this.workers.keys()],
      })
      .groupBy('task.task')
      .getRawMany<{ name: string; count: number }>();
    for (const { name, count } of due) this.wake(name, count);
  }

  private async listen(): Promise<void> {
    const client = await poolOf(this.source).connect();
    const hangUp = () => {
      if (this.hangUp !== hangUp) return;
      this.hangUp = null;
      client.release(true);
    };
    this.hangUp = hangUp;
    client.on('error', hangUp);
    client.on('notification', ({ payload }) => this.wake(payload ?? '', 1));
    try {
      await client.query(`SET idle_session_timeout = 0; LISTEN ${CHANNEL}`);
    } catch (error) {
      hangUp();
      throw error;
    }
    if (this.stopping) hangUp();
  }

  private wake(task: string, due: number): void {
    if (this.stopping) return;
    for (const slot of this.slots.filter((slot) => slot.task === task && !slot.busy).slice(0, due)) {
      const work = this.work(slot).finally(() => this.working.delete(work));
      this.working.add(work);
    }
  }

  private async work(slot: TaskSlot): Promise<void> {
    try {
      const brokenOff = await slot.work();
      for (const { id, attempts } of brokenOff) await this.unitOfWork.query(HAND_BACK, [id, attempts, slot.task]);
    } catch (error) {
      this.outages.failed('the work queue', error, { task: slot.task });
    }
    if (!slot.broken) return;
    this.broken.add(slot.workerId);
    this.slots = this.slots.map((one) => (one === slot ? this.slot(slot.task) : one));
  }

  private slot(task: string): TaskSlot {
    const failed = (attempt: number, error: unknown) => this.log.warn('a task failed', { task, attempt, error });
    const workerId = `${this.instance}.${++this.lastSlot}`;
    return new TaskSlot(task, this.workers.get(task) as TaskWorker, { workerId, pool: poolOf(this.source), failed });
  }

  private async unlock(workerIds: readonly string[]): Promise<void> {
    await this.unitOfWork.query(UNLOCK, [workerIds]);
  }

  private async held(): Promise<string[]> {
    const tasks = this.unitOfWork.repository(TaskView).createQueryBuilder('task');
    const held = tasks.select('DISTINCT task.lockedBy', 'workerId').where('task.lockedBy IS NOT NULL');
    return (await held.getRawMany<{ workerId: string }>()).map(({ workerId }) => workerId);
  }
}
