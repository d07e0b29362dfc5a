import { AsyncLocalStorage } from 'node:async_hooks';
import type { UnitOfWork } from '../../src/application/shared/ports.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';

type Rows = ReadonlyMap<string, unknown>;
type Tables = ReadonlyMap<string, Rows>;

const ATTEMPTS = 100;
const NO_ROWS: Rows = new Map();

interface Unit {
  /** The committed tables when the unit of work began. */
  readonly before: Tables;
  /** The tables that the unit of work has changed. */
  readonly changed: Map<string, Rows>;
  readonly touched: Set<string>;
  over: boolean;
}

/**
 * Stores tables as maps of immutable values, so that a snapshot is a reference. A unit of work sees a snapshot and its
 * own changes. It commits if nobody has changed a table that it touched, and runs again otherwise. So concurrent units
 * of work are serializable, as on PostgreSQL.
 */
export class MemoryStore implements UnitOfWork {
  private committed: Tables = new Map();
  private readonly current = new AsyncLocalStorage<Unit>();

  /** The last work under each lock. */
  private readonly lastWork = new Map<string, Promise<unknown>>();

  /** Called after each commit with the name of each changed table. */
  readonly watchers = new Set<(table: string) => void>();

  get isWorking(): boolean {
    return this.current.getStore() !== undefined;
  }

  /** Runs `work` after all earlier work under the lock. Returns its result. */
  exclusively<T>(lock: string, work: () => Promise<T>): Promise<T> {
    const result = (this.lastWork.get(lock) ?? Promise.resolve()).then(work);
    this.lastWork.set(
      lock,
      result.catch(() => undefined),
    );
    return result;
  }

  /** Runs `work` alone under the lock, also if the caller asks for the mode `shared`. */
  async locked<T>(lock: string, work: () => Promise<T>): Promise<T> {
    if (this.isWorking) throw new Error('This must not run inside a unit of work.');
    return this.exclusively(lock, () => this.run(work));
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.current.getStore()) return work();
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const unit: Unit = { before: this.committed, changed: new Map(), touched: new Set(), over: false };
      try {
        const result = await this.current.run(unit, work);
        if (this.commit(unit)) return result;
      } finally {
        unit.over = true;
      }
    }
    throw new StorageUnavailable('too many changes of the same thing at once');
  }

  /** Returns the rows that the current unit of work sees, or the committed ones outside a unit of work. */
  rows(table: string): Rows {
    const unit = this.unit();
    unit?.touched.add(table);
    return unit?.changed.get(table) ?? (unit?.before ?? this.committed).get(table) ?? NO_ROWS;
  }

  replaceRows(table: string, rows: Rows): void {
    const unit = this.unit();
    if (unit) unit.changed.set(table, rows);
    else {
      this.committed = new Map(this.committed).set(table, rows);
      this.tellWatchers(table);
    }
  }

  private tellWatchers(table: string): void {
    for (const watcher of this.watchers) watcher(table);
  }

  private unit(): Unit | undefined {
    const unit = this.current.getStore();
    if (unit?.over) throw new Error('The unit of work is over: await everything that it does.');
    return unit;
  }

  private commit({ before, changed, touched }: Unit): boolean {
    for (const table of touched) if (this.committed.get(table) !== before.get(table)) return false;
    this.committed = new Map([...this.committed, ...changed]);
    for (const table of changed.keys()) this.tellWatchers(table);
    return true;
  }
}
