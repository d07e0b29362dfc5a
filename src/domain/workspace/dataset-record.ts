import { canonicalPieces, type Json, type JsonObject } from './json.js';

/** One example of a dataset. */
export interface DatasetRecord {
  /** Unique in a dataset that validates. */
  readonly id: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** The fields beyond the four above, by name. */
  readonly fields: JsonObject;
}

/** Returns the canonical JSON of records in pieces. `content_sha256` is the hash of it. */
export const canonicalRecords = (records: readonly DatasetRecord[]): Iterable<string> =>
  canonicalPieces(records.map(({ id, group, input, expected, fields }) => ({ id, group, input, expected, fields })));
