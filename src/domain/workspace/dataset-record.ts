import { canonicalPieces, type Json, type JsonObject } from './json.js';

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

/** The canonical JSON of a list of records, in pieces: what `content_sha256` is taken of. */
export const canonicalRecords = (records: readonly DatasetRecord[]): Iterable<string> =>
  canonicalPieces(records.map(({ id, group, input, expected, fields }) => ({ id, group, input, expected, fields })));
