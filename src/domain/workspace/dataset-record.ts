import type { Json, JsonObject } from './json.js';

/** One example of a dataset. */
export interface DatasetRecord {
  /** Unique in a dataset that validates. */
  readonly id: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** Whatever else came with the record, by its name. */
  readonly fields: JsonObject;
}
