import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';
import type { Clock, TaskOptions, TaskWorker, WorkQueue } from '../../../src/application/shared/ports.js';
import type { Json } from '../../../src/domain/workspace/json.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Kept {
  readonly id: string;
  readonly task: string;
  readonly payload: Json;
  readonly key: string | null;
  readonly runAt: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly reason: string;
  /** The process that runs it. */
  readonly holder: number | null;
}

const LOOK_PAUSE_MS = 2;

/** For unit tests: looks every few milliseconds, and takes the time of day from a clock. */
export class MemoryWorkQueue implements WorkQueue {
  private readonly workers = new Map<string, TaskWorker>();
  private readonly running = new Map<string, { task: string; work: Promise<void> }>();
  private readonly stopping = new AbortController();
  private readonly rows: MemoryTable<Kept>;
  private process = 0;

  constructor(
    store: MemoryStore,
    private readonly processes: InstanceRegistry,
    private readonly clock: Clock,
  ) {
    this.rows = new MemoryTable(store, 'tasks');
  }

  async enqueue(task: string, payload: Json, { key, runAt, maxAttempts = 10 }: TaskOptions = {}): Promise<void> {
    const all = this.rows.all();
    if (key !== undefined && all.some((one) => one.key === key)) return;
    const id = String(1 + Math.max(0, ...all.map((one) => Number(one.id))));
    const due = (runAt ?? this.clock.now()).getTime();
    const fresh = { attempts: 0, reason: 'its process died', holder: null };
    this.rows.put(id, { ...fresh, id, task, payload, key: key ?? null, runAt: due, maxAttempts });
  }

  register(task: string, worker: TaskWorker): void {
    this.workers.set(task, worker);
  }

  async start(): Promise<void> {
    this.process = await this.processes.own();
    const timer = setInterval(() => this.look(), LOOK_PAUSE_MS);
    this.stopping.signal.addEventListener('abort', () => clearInterval(timer));
  }

  async holders(): Promise<number[]> {
    return [...new Set(this.rows.all().flatMap(({ holder }) => holder ?? []))];
  }

  async release(process: number): Promise<void> {
    for (const one of this.rows.all()) if (one.holder === process) this.rows.put(one.id, { ...one, holder: null });
  }

  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    const ended = Promise.all([...this.running.values()].map(({ work }) => work));
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([ended, enough]);
    clearTimeout(timer);
  }

  private look(): void {
    const now = this.clock.now().getTime();
    for (const one of this.rows.all()) {
      const worker = this.workers.get(one.task);
      const busy = [...this.running.values()].filter(({ task }) => task === one.task).length;
      if (!worker || one.holder !== null || one.runAt > now || busy >= worker.atOnce) continue;
      const begun = { ...one, holder: this.process, attempts: one.attempts + 1 };
      this.rows.put(one.id, begun);
      const work = this.run(begun, worker).finally(() => this.running.delete(one.id));
      this.running.set(one.id, { task: one.task, work });
    }
  }

  private async run(one: Kept, worker: TaskWorker): Promise<void> {
    const { signal } = this.stopping;
    try {
      if (one.attempts > one.maxAttempts) await worker.gaveUp(one.payload, one.reason);
      else await worker.run(one.payload, { number: one.attempts, signal });
      this.end(one, null);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const now = this.clock.now().getTime();
      const pause = Math.exp(Math.min(one.attempts, 10)) * 1000;
      if (signal.aborted) this.end(one, { ...one, attempts: one.attempts - 1, holder: null });
      else if (one.attempts < one.maxAttempts) this.end(one, { ...one, reason, runAt: now + pause, holder: null });
      else this.end(one, { ...one, reason, holder: null });
    }
  }

  /** Nothing where the task has been taken from this process. */
  private end(begun: Kept, next: Kept | null): void {
    if (this.rows.get(begun.id) !== begun) return;
    if (next) this.rows.put(begun.id, next);
    else this.rows.remove(begun.id);
  }
}
