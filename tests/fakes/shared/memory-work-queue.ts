import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';
import type { Clock, TaskOptions, TaskWorker, WorkQueue } from '../../../src/application/shared/ports.js';
import { backOffMs, RetryAfter } from '../../../src/application/shared/retry-after.js';
import type { Json } from '../../../src/domain/workspace/json.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface StoredTask {
  readonly id: string;
  readonly task: string;
  readonly payload: Json;
  readonly key: string | null;
  readonly queueName: string | null;
  readonly runAt: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly reason: string;
  /** The instance that runs the task. */
  readonly holder: number | null;
}

interface Running {
  readonly begun: StoredTask;
  readonly abort: AbortController;
  readonly work: Promise<void>;
}

const LOOK_PAUSE_MS = 2;

/** Looks for due tasks every two milliseconds. The clock says which tasks are due. */
export class MemoryWorkQueue implements WorkQueue {
  private readonly workers = new Map<string, TaskWorker>();
  private readonly running = new Map<string, Running>();
  private readonly rows: MemoryTable<StoredTask>;
  private readonly started: MemoryTable<number>;
  private timer: NodeJS.Timeout | undefined;
  private instance = 0;
  private stopping = false;

  constructor(
    store: MemoryStore,
    private readonly registry: InstanceRegistry,
    private readonly clock: Clock,
  ) {
    this.rows = new MemoryTable(store, 'tasks');
    this.started = new MemoryTable(store, 'task_workers');
  }

  async enqueue(task: string, payload: Json, options: TaskOptions = {}): Promise<void> {
    const { key = null, queueName = null, maxAttempts = 10 } = options;
    const all = this.rows.all();
    if (key !== null && all.some((one) => one.key === key)) return;
    const id = String(1 + Math.max(0, ...all.map((one) => Number(one.id))));
    const initial = { attempts: 0, reason: 'its instance died', holder: null, runAt: this.clock.now().getTime() };
    this.rows.put(id, { ...initial, id, task, payload, key, queueName, maxAttempts });
  }

  register(task: string, worker: TaskWorker): void {
    this.workers.set(task, worker);
  }

  async start(): Promise<void> {
    this.instance = await this.registry.own();
    this.started.put(String(this.instance), this.instance);
    this.timer = setInterval(() => this.look(), LOOK_PAUSE_MS);
  }

  async instances(): Promise<number[]> {
    return this.started.all();
  }

  async release(instance: number): Promise<void> {
    this.started.remove(String(instance));
    for (const one of this.rows.all()) if (one.holder === instance) this.rows.put(one.id, { ...one, holder: null });
  }

  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    clearInterval(this.timer);
    for (const { abort } of this.running.values()) abort.abort(new Error('the instance shuts down'));
    const ended = Promise.all([...this.running.values()].map(({ work }) => work));
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
    if (this.running.size === 0) this.started.remove(String(this.instance));
  }

  /** Runs the due tasks of one name once. Needs no `start`. */
  async runDue(task: string, worker: TaskWorker): Promise<void> {
    const now = this.clock.now().getTime();
    for (const one of this.rows.all()) {
      if (one.task !== task || one.runAt > now) continue;
      const begun = { ...one, attempts: one.attempts + 1 };
      this.rows.put(one.id, begun);
      await this.run(begun, worker, new AbortController().signal);
    }
  }

  private look(): void {
    for (const { begun, abort } of this.running.values()) {
      if (this.rows.get(begun.id) === begun) continue;
      abort.abort(new Error('another instance took it over'));
      this.started.put(String(this.instance), this.instance);
    }
    const now = this.clock.now().getTime();
    for (const one of this.rows.all()) {
      const worker = this.workers.get(one.task);
      if (!worker || one.holder !== null || one.runAt > now || !this.hasRoom(one, worker)) continue;
      const begun = { ...one, holder: this.instance, attempts: one.attempts + 1 };
      this.rows.put(one.id, begun);
      const abort = new AbortController();
      const work = this.run(begun, worker, abort.signal).finally(() => this.running.delete(one.id));
      this.running.set(one.id, { begun, abort, work });
    }
  }

  private hasRoom({ task, queueName }: StoredTask, { atOnce }: TaskWorker): boolean {
    const busy = [...this.running.values()].filter(({ begun }) => begun.task === task).length;
    const isBlocked = queueName !== null && this.rows.find((one) => one.queueName === queueName && one.holder !== null);
    return busy < atOnce && !isBlocked;
  }

  private async run(one: StoredTask, worker: TaskWorker, signal: AbortSignal): Promise<void> {
    try {
      if (one.attempts > one.maxAttempts) await worker.gaveUp(one.payload, one.reason);
      else await worker.run(one.payload, { number: one.attempts, signal });
      this.end(one, null);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const now = this.clock.now().getTime();
      const pause = error instanceof RetryAfter ? error.pauseMs : backOffMs(one.attempts, Infinity);
      if (this.stopping) this.end(one, { ...one, attempts: one.attempts - 1, holder: null });
      else if (one.attempts < one.maxAttempts) this.end(one, { ...one, reason, runAt: now + pause, holder: null });
      else this.end(one, { ...one, reason, holder: null });
    }
  }

  /** Stores the next state of a task, or removes it. Does nothing if another instance has taken over the task. */
  private end(begun: StoredTask, next: StoredTask | null): void {
    if (this.rows.get(begun.id) !== begun) return;
    if (next) this.rows.put(begun.id, next);
    else this.rows.remove(begun.id);
  }
}
