import { injectable } from 'inversify';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { InstanceRegistry } from '../../../application/jobs/ports.js';
import { Logger, type TaskOptions, type TaskWorker, type WorkQueue } from '../../../application/shared/ports.js';
import type { Json } from '../../../domain/workspace/json.js';
import { Repeating } from '../../system/repeating.js';
import { OutageLog } from '../outage-log.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { type BrokenOff, type Envelope, TaskSlot } from './task-slot.js';

const CHANNEL = 'tenon_tasks';
const LOOK_PAUSE_MS = 2_000;
const MAX_ATTEMPTS = 10;
/** The most that graphile-worker can count to. */
const NEVER = 32_767;

const ADD = `
  SELECT graphile_worker.add_job($1, payload => $2::json, run_at => $3::timestamptz, max_attempts => ${NEVER},
           job_key => $4, job_key_mode => CASE WHEN $4::text IS NULL THEN 'replace' ELSE 'unsafe_dedupe' END),
         pg_notify('${CHANNEL}', $1)`;

const DUE = `
  SELECT task_identifier AS task, count(*)::integer AS due FROM graphile_worker.jobs
   WHERE task_identifier = ANY($1) AND locked_at IS NULL AND run_at <= now() GROUP BY 1`;

const HAND_BACK = `
  SELECT pg_notify('${CHANNEL}', $3)
    FROM graphile_worker.reschedule_jobs(ARRAY[$1::bigint], run_at => now(), attempts => $2::integer)`;

const UNLOCK = 'SELECT graphile_worker.force_unlock_workers($1)';

const HELD = `SELECT DISTINCT locked_by AS "workerId" FROM graphile_worker.jobs WHERE locked_by IS NOT NULL`;

/** A worker's id begins with the number of its process. */
const processOf = (workerId: string): number => Number(workerId.split('.')[0]);

/**
 * The tables and the retries are graphile-worker's; when to look for tasks, and whose were a dead process's, is decided
 * here. It needs no connections of its own, but for the one that listens.
 */
@injectable()
export class GraphileWorkQueue implements WorkQueue {
  private readonly workers = new Map<string, TaskWorker>();
  private slots: TaskSlot[] = [];
  private readonly working = new Set<Promise<void>>();
  /** Slots of this process that broke, whose tasks are to be unlocked. */
  private readonly broken = new Set<string>();
  private readonly looking: Repeating;
  /** Ends the line on which other processes tell of tasks; null where there is none. */
  private hangUp: (() => void) | null = null;
  private lastSlot = 0;
  private process = 0;
  private stopping = false;

  constructor(
    private readonly source: DataSource,
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly processes: InstanceRegistry,
    private readonly log: Logger,
    private readonly outages: OutageLog,
  ) {
    this.looking = new Repeating(
      () => this.look(),
      LOOK_PAUSE_MS,
      (error) => outages.failed('the work queue', error),
    );
  }

  async enqueue(task: string, payload: Json, { key, runAt, maxAttempts = MAX_ATTEMPTS }: TaskOptions = {}) {
    const envelope: Envelope = { payload, maxAttempts };
    const values = [task, JSON.stringify(envelope), runAt ?? null, key ?? null];
    await this.unitOfWork.prepared('work-queue-add', ADD, values);
  }

  register(task: string, worker: TaskWorker): void {
    this.workers.set(task, worker);
  }

  async start(): Promise<void> {
    this.process = await this.processes.own();
    this.slots = [...this.workers].flatMap(([task, { atOnce }]) =>
      Array.from({ length: atOnce }, () => this.slot(task)),
    );
    this.looking.start();
  }

  async holders(): Promise<number[]> {
    return [...new Set((await this.held()).map(processOf))];
  }

  async release(process: number): Promise<void> {
    const held = (await this.held()).filter((workerId) => processOf(workerId) === process);
    if (held.length > 0) await this.pool.query(UNLOCK, [held]);
  }

  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    for (const slot of this.slots) slot.end();
    const ended = Promise.all(this.working);
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all([ended, this.looking.stop(graceMs)]), enough]);
    clearTimeout(timer);
    this.hangUp?.();
  }

  /** Sees to what no notification told of: tasks that are due only now, and those of a time without a database. */
  private async look(): Promise<void> {
    if (!this.hangUp) await this.listen();
    for (const workerId of this.broken) {
      await this.pool.query(UNLOCK, [[workerId]]);
      this.broken.delete(workerId);
    }
    const { rows } = await this.pool.query(DUE, [[...this.workers.keys()]]);
    for (const { task, due } of rows as { task: string; due: number }[]) this.wake(task, due);
  }

  private async listen(): Promise<void> {
    const line = await this.pool.connect();
    const hangUp = () => {
      if (this.hangUp !== hangUp) return;
      this.hangUp = null;
      line.release(true);
    };
    this.hangUp = hangUp;
    line.on('error', hangUp);
    line.on('notification', ({ payload }) => this.wake(payload ?? '', 1));
    try {
      await line.query(`SET idle_session_timeout = 0; LISTEN ${CHANNEL}`); // it has nothing to say, and is not idle
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
      for (const one of await slot.work()) await this.handBack(slot.task, one);
    } catch (error) {
      this.outages.failed('the work queue', error, { task: slot.task });
    }
    if (!slot.broken) return;
    this.broken.add(slot.workerId);
    this.slots = this.slots.map((one) => (one === slot ? this.slot(slot.task) : one));
  }

  private slot(task: string): TaskSlot {
    const failed = (attempt: number, error: unknown) => this.log.warn('a task failed', { task, attempt, error });
    const workerId = `${this.process}.${++this.lastSlot}`;
    return new TaskSlot(task, this.workers.get(task) as TaskWorker, { workerId, pool: this.pool, failed });
  }

  private async handBack(task: string, { id, attempts }: BrokenOff): Promise<void> {
    await this.pool.query(HAND_BACK, [id, attempts, task]);
  }

  private async held(): Promise<string[]> {
    const { rows } = await this.pool.query(HELD);
    return (rows as { workerId: string }[]).map(({ workerId }) => workerId);
  }

  private get pool(): Pool {
    return (this.source.driver as PostgresDriver).master;
  }
}
