import { type Finding, InvalidRequest } from '../shared/errors.js';
import { atMost, quoted, unstorableLeaf } from '../shared/text.js';
import { type DatasetRecord, shortened } from './dataset.js';
import { isObject, type Json, type JsonObject, unstorable } from './json.js';
import { nameFindings } from './project.js';

/** The limits of an import. Lengths are in characters. */
export const recordLimits = { records: 500, fields: 50, fieldName: 200, id: 200, group: 200 } as const;

/** Records as the caller sent them, and the problems of their file. */
export interface SentRecords {
  readonly records: readonly Json[];
  readonly problems?: readonly Finding[];
}

/** A dataset as the caller sent it. The name can be any JSON, because it is checked together with the records. */
export interface SentDataset {
  readonly name?: Json;
  readonly records: SentRecords | null;
}

export interface Reading {
  readonly records: readonly DatasetRecord[];
  /** The first 100 problems, then one that counts the others. The import is refused if there is a problem. */
  readonly problems: readonly Finding[];
}

const FOUR: readonly string[] = ['id', 'group', 'input', 'expected'];

/** Returns the valid name and records. Throws InvalidRequest with the problems of the name and of the records. */
export function readDataset({ name, records: sent }: SentDataset): {
  name?: string;
  records: readonly DatasetRecord[] | null;
} {
  const { records, problems } = sent ? readRecords(sent) : { records: null, problems: [] };
  const all = [...(name === undefined ? [] : nameFindings(name)), ...problems];
  if (all.length > 0) throw new InvalidRequest(all);
  return { name: name as string | undefined, records };
}

/**
 * Reads records as the caller sent them. A record has the fields `id`, `group`, `input` and `expected`. Further fields
 * are beside these four or in `fields`. A record without an id gets an id from its row, so the same rows always give
 * the same records.
 */
export function readRecords({ records: sent, problems: known = [] }: SentRecords): Reading {
  const { records: most } = recordLimits;
  const tooMany: Finding[] =
    sent.length > most
      ? [{ path: `records.${most}`, message: `row ${most + 1} is over the limit of ${most} records` }]
      : [];
  const rows = sent.slice(0, most).map((row, index) => new Row(row, index));
  const problems = [...tooMany, ...known, ...rows.flatMap((row) => row.problems)];
  const more = (count: number): Finding => ({ path: 'records', message: `has ${count} more problems` });
  return { records: withIds(rows.map((row) => row.record)), problems: shortened(problems, more) };
}

class Row {
  readonly problems: Finding[] = [];
  readonly record: DatasetRecord;

  constructor(
    sent: Json,
    private readonly index: number,
  ) {
    if (!isObject(sent)) this.refuse('', 'must be an object');
    const own = isObject(sent) ? sent : {};
    const { id, group, input = null, expected = null, fields = null } = own;
    const within = isObject(fields) ? fields : {};
    if (fields !== null && !isObject(fields)) this.refuse('fields', '"fields" must be an object');
    this.requireOnce(own, within);
    const isWithinLimit = this.requireFew([...present(own), ...Object.keys(within)]);
    this.requireStorable(own, '');
    this.requireStorable(within, 'fields.');
    this.record = {
      id: this.text('id', id, recordLimits.id) ?? '',
      group: this.text('group', group, recordLimits.group),
      input,
      expected,
      fields: isWithinLimit ? further(own, within) : {},
    };
  }

  private requireOnce(own: JsonObject, within: JsonObject): void {
    for (const name of Object.keys(within)) {
      if (FOUR.includes(name)) this.refuse(`fields.${name}`, `"${quoted(name)}" belongs beside "fields", not into it`);
      else if (name !== 'fields' && Object.hasOwn(own, name))
        this.refuse(name, `"${quoted(name)}" is there twice: beside "fields" and in it`);
    }
  }

  private requireFew(names: readonly string[]): boolean {
    const most = recordLimits.fields;
    const beyond = names[most];
    if (beyond === undefined) return true;
    this.refuse(beyond, `is over the limit of ${most} fields: "${quoted(beyond)}" is one too many`);
    return false;
  }

  /** Checks only as many fields as a record may have. A row with more fields is refused anyway. */
  private requireStorable(members: JsonObject, at: string): void {
    const { fields, fieldName: most } = recordLimits;
    for (const name of Object.keys(members).slice(0, fields + 1)) {
      if (at === '' && name === 'fields') continue;
      const inName = unstorableLeaf(name);
      const inValue = unstorable(members[name] as Json);
      if (inName) this.refuse('', `the name of a field ${inName}`);
      else if (inValue) this.refuse(`${at}${name}`, `"${quoted(name)}" ${inValue}`);
      if (!atMost(name, most))
        this.refuse(`${at}${name}`, `"${quoted(name)}" is a name of more than ${most} characters`);
    }
  }

  /** Returns null for blank text. */
  private text(name: string, value: Json | undefined, most: number): string | null {
    if (value === undefined || value === null) return null;
    if (typeof value !== 'string' || !atMost(value, most))
      this.refuse(name, `"${name}" must be a string of at most ${most} characters`);
    return typeof value === 'string' && value.trim() !== '' ? value : null;
  }

  private refuse(field: string, problem: string): void {
    const path = `records.${this.index}${field && `.${quoted(field)}`}`;
    this.problems.push({ path, message: `row ${this.index + 1}: ${problem}` });
  }
}

/** Returns the names that count as fields. Omits `fields` itself, and each of the four fields that is null. */
const present = (own: JsonObject): string[] =>
  Object.keys(own).filter((name) => name !== 'fields' && !(own[name] === null && FOUR.includes(name)));

/** Returns the fields beyond the four. `Object.fromEntries` keeps a name such as `__proto__` as a plain field. */
function further(own: JsonObject, within: JsonObject): JsonObject {
  const beside = Object.entries(own).filter(([name]) => name !== 'fields' && !FOUR.includes(name));
  return Object.fromEntries([...beside, ...Object.entries(within)]);
}

/** Gives each record without an id the id `row-<n>`. `n` is the record's row, or the next free number after it. */
function withIds(records: readonly DatasetRecord[]): DatasetRecord[] {
  const taken = new Set(records.map(({ id }) => id));
  return records.map((record, index) => {
    if (record.id !== '') return record;
    let row = index + 1;
    while (taken.has(`row-${row}`)) row++;
    taken.add(`row-${row}`);
    return { ...record, id: `row-${row}` };
  });
}
