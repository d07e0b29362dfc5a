import type { Page, SizedItem } from '../../src/application/shared/ports.js';
import type { MemoryStore } from './memory-store.js';

const WHOLE: Page = { limit: Number.POSITIVE_INFINITY, after: null };

/** A table of a store with rows by key. Each method is atomic. */
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

  /** Returns a page of the rows for which `holds` is true, the highest key first. */
  newest(holds: (row: Row) => boolean, { limit, after } = WHOLE): Row[] {
    const held = [...this.rows].filter(([key, row]) => holds(row) && (after === null || key < after));
    const sorted = held.sort(([one], [other]) => (one < other ? 1 : -1));
    return sorted.slice(0, limit).map(([, row]) => row);
  }

  put(key: string, row: Row): void {
    this.store.replaceRows(this.name, new Map(this.rows).set(key, row));
  }

  /** Replaces a row. Returns false if there is none. */
  replace(key: string, row: Row): boolean {
    const known = this.rows.has(key);
    if (known) this.put(key, row);
    return known;
  }

  /** Removes a row. Returns false if there is none. */
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

export const sizeOf = (id: string | number, content: unknown): SizedItem => ({
  id: String(id),
  bytes: JSON.stringify(content).length,
});
