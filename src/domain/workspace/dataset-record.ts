import { atMost, unstorableLeaf } from '../shared/text.js';
import { canonical, isObject, type Json, type JsonObject } from './json.js';

export interface DatasetRecord {
  /** Unique in a dataset that validates. */
  readonly id: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** The fields beyond the four above, by name. */
  readonly fields: JsonObject;
  /** Tells where the record comes from. It is no part of the record's content. Absent: unknown. */
  readonly origin?: RecordOrigin;
}

/**
 * Names the call that a record was made of, by `call_id`, or the record of a job's results, by `job_id` and `record_id`.
 * `model_id` is the model that answered, `at` the time in seconds since the epoch.
 */
export type RecordOrigin = JsonObject;

const ORIGIN_TEXTS = ['call_id', 'job_id', 'record_id', 'model_id'];
const ORIGIN_TEXT = 200;

/** Tells whether a value under `origin` is an origin. Any other value is a field of the record. */
export function isOrigin(value: Json | undefined): value is RecordOrigin {
  if (!isObject(value) || !('call_id' in value || 'job_id' in value)) return false;
  return Object.entries(value).every(([name, part]) => {
    if (name === 'at') return typeof part === 'number' && part >= 0 && Number.isFinite(part);
    const isText = typeof part === 'string' && part !== '' && atMost(part, ORIGIN_TEXT) && !unstorableLeaf(part);
    return ORIGIN_TEXTS.includes(name) && isText;
  });
}

/** A record with its JSON in a form that does not depend on the order of keys. */
export interface CanonicalRecord {
  readonly record: DatasetRecord;
  /** The JSON with sorted keys. */
  readonly text: string;
  /** The same without the id. */
  readonly content: string;
}

export function canonicalRecord(record: DatasetRecord): CanonicalRecord {
  const { id, group, input, expected, fields } = record;
  const before = `{"expected":${canonical(expected)},"fields":${canonical(fields)},"group":${canonical(group)}`;
  const after = `,"input":${canonical(input)}}`;
  return { record, text: `${before},"id":${canonical(id)}${after}`, content: before + after };
}

/** Returns the canonical JSON of a record from the canonical JSON of its parts. */
export const canonicalText = (parts: Readonly<Record<Exclude<keyof DatasetRecord, 'origin'>, string>>): string =>
  `{"expected":${parts.expected},"fields":${parts.fields},"group":${parts.group},"id":${parts.id},"input":${parts.input}}`;

/** The canonical JSON of a list of records, in pieces. `content_sha256` is the hash of this JSON. */
export class CanonicalList {
  private isBegun = false;

  /** Returns the piece that ends with this canonical record. */
  next(record: string): string {
    const piece = (this.isBegun ? ',' : '[') + record;
    this.isBegun = true;
    return piece;
  }

  /** Returns the last piece. */
  get end(): string {
    return this.isBegun ? ']' : '[]';
  }
}
