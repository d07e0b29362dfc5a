import { MOST_RECORDS, Problems } from '../../../domain/workspace/dataset-import.js';
import type { Json } from '../../../domain/workspace/json.js';

/** Collects what is read from a file. An unreadable row becomes an empty record, so that later rows keep their numbers. */
export class RowCollector {
  readonly problems = new Problems();
  columns?: readonly string[];
  count = 0;
  private rows: Json[] = [];

  /** Whether further rows are only counted, because no dataset can have them. */
  get isFull(): boolean {
    return this.count >= MOST_RECORDS;
  }

  add(record: Json): void {
    if (!this.isFull) this.rows.push(record);
    this.count++;
  }

  /** Counts a row that nobody needs. */
  skip(): void {
    this.count++;
  }

  /** Adds an unreadable row with its problem. */
  refuse(message: string): void {
    this.problems.add({ path: `records.${this.count}`, message });
    this.add({});
  }

  /** Returns the rows since the last call. */
  take(): readonly Json[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }
}
