import { AsyncLocalStorage } from 'node:async_hooks';
import type { UnitOfWork } from '../../src/application/shared/ports.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';

type Rows = ReadonlyMap<string, unknown>;
type Tables = ReadonlyMap<string, Rows>;

const ATTEMPTS = 100;
const NO_ROWS: Rows = new Map();

interface Unit {
  /** All tables as they were committed when the unit began. */
  readonly before: Tables;
  /** Those that it has changed, as it sees them. */
  readonly changed: Map<string, Rows>;
  readonly touched: Set<string>;
  over: boolean;
}

/**
 * Tables as maps of immutable values, so that a snapshot is a reference. A unit of work sees a snapshot and keeps its
 * changes to itself. It commits when nobody has changed a table that it touched, and runs again otherwise: units run
 * side by side, as on a real database, and yet the outcome is as if they had run one after another.
 */
export class MemoryStore implements UnitOfWork {
  private committed: Tables = new Map();
  private readonly current = new AsyncLocalStorage<Unit>();

  /** The last turn of each line, for those that act one at a time. */
  private readonly lines = new Map<string, Promise<unknown>>();

  /** Called with the name of each table that was changed, once that is committed. */
  readonly watchers = new Set<(table: string) => void>();

  get isWorking(): boolean {
    return this.current.getStore() !== undefined;
  }

  /** Resolves to what `turn` does once all turns of the line before it are over. */
  inLine<T>(line: string, turn: () => Promise<T>): Promise<T> {
    const mine = (this.lines.get(line) ?? Promise.resolve()).then(turn);
    const over = mine.catch(() => undefined);
    this.lines.set(line, over);
    return mine;
  }

  /** Runs every turn alone, the shared ones as well. */
  async locked<T>(line: string, work: () => Promise<T>): Promise<T> {
    if (this.isWorking) throw new Error('This must not run inside a unit of work.');
    return this.inLine(line, () => this.run(work));
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

  /** As the unit of work at hand sees them; outside of one, as they are committed. */
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
