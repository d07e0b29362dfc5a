import type { MemoryStore } from './memory-store.js';

/** A table of a store: rows by their key. Each method is done at once, with nothing in between. */
export class MemoryTable<Row> {
  constructor(
    private readonly store: MemoryStore,
    private readonly name: string,
  ) {}

  get(key: string): Row | null {
    return this.rows.get(key) ?? null;
  }

  find(holds: (row: Row) => boolean): Row | null {
    return this.all().find(holds) ?? null;
  }

  all(): Row[] {
    return [...this.rows.values()];
  }

  put(key: string, row: Row): void {
    this.store.replaceRows(this.name, new Map(this.rows).set(key, row));
  }

  /** True when there was one. */
  remove(key: string): boolean {
    const rows = new Map(this.rows);
    const removed = rows.delete(key);
    if (removed) this.store.replaceRows(this.name, rows);
    return removed;
  }

  removeAll(holds: (row: Row) => boolean): void {
    const rows = new Map([...this.rows].filter(([, row]) => !holds(row)));
    if (rows.size < this.rows.size) this.store.replaceRows(this.name, rows);
  }

  private get rows(): ReadonlyMap<string, Row> {
    return this.store.rows(this.name) as ReadonlyMap<string, Row>;
  }
}
