import { canonical, type Json, type JsonObject } from './json.js';

export interface DatasetRecord {
  /** Unique in a dataset that validates. */
  readonly id: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** The fields beyond the four above, by name. */
  readonly fields: JsonObject;
}

/** A record with its JSON in a form that does not depend on the order of keys. */
export interface CanonicalRecord {
  readonly record: DatasetRecord;
  /** The JSON with sorted keys. */
  readonly text: string;
  /** The same without the id. */
  readonly content: string;
  /** Tells where the record comes from. It is no part of the record's content. */
  readonly origin?: JsonObject;
}

export function canonicalRecord(record: DatasetRecord, origin?: JsonObject): CanonicalRecord {
  const { id, group, input, expected, fields } = record;
  const before = `{"expected":${canonical(expected)},"fields":${canonical(fields)},"group":${canonical(group)}`;
  const after = `,"input":${canonical(input)}}`;
  const whole = { record, text: `${before},"id":${canonical(id)}${after}`, content: before + after };
  return origin ? { ...whole, origin } : whole;
}

/** Returns the canonical JSON of a record from the canonical JSON of its parts. */
export const canonicalText = (parts: Readonly<Record<keyof DatasetRecord, string>>): string =>
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
