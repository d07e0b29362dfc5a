import type { Finding } from '../shared/errors.js';
import { atMost, heldBytes, quoted, unstorableLeaf } from '../shared/text.js';
import {
  ColumnNames,
  fromMessages,
  type MappedColumn,
  mapProblems,
  mappedFields,
  mappedRow,
} from './dataset-columns.js';
import { type DatasetRecord, isOrigin, type RecordOrigin } from './dataset-record.js';
import { shortened } from './dataset-validation.js';
import { isObject, type Json, type JsonObject, unstorable } from './json.js';
import { nameFindings } from './project.js';

/** The limits of a record. Lengths are in characters. `bytes` limits the text of a record in a file. */
export const recordLimits = { fields: 50, fieldName: 200, id: 200, group: 200, bytes: 5 * 1024 * 1024 } as const;

/** The greatest limit of records that an operator can set. */
export const MOST_RECORDS = 100_000;

const LISTED = 100;

/** Lists the first problems, and counts all: a file can have millions. */
export class Problems {
  readonly listed: Finding[] = [];
  count = 0;

  add(problem: Finding): void {
    this.count++;
    if (this.listed.length < LISTED) this.listed.push(problem);
  }
}

/** Records as the caller sent them, and the problems of their file. They can be read several times. */
export interface SentRecords {
  /** Yields the rows in their order. May end after as many rows as any dataset can have. */
  batches(): AsyncIterable<readonly Json[]> | Iterable<readonly Json[]>;
  /** The number of all rows. */
  readonly count: number;
  readonly problems?: Problems | undefined;
  /** The names in the header, if the file has one. */
  readonly columns?: readonly string[] | undefined;
}

export const sentList = (rows: readonly Json[]): SentRecords => ({ batches: () => [rows], count: rows.length });

/** A dataset as the caller sent it. The name can be any JSON, because it is checked together with the records. */
export interface SentDataset {
  readonly name?: Json;
  readonly records: SentRecords | null;
  /** The columns that become fields of another name. */
  readonly map?: readonly MappedColumn[] | undefined;
}

export interface Reading {
  readonly records: readonly DatasetRecord[];
  /** The first 100 problems, then one that counts the others. The import is refused if there is a problem. */
  readonly problems: readonly Finding[];
}

const FOUR: readonly string[] = mappedFields;

/** Returns the problems of a name without records. */
export function problemsWithoutRows({ name, map }: Omit<SentDataset, 'records'>): Finding[] {
  const unmapped = map ? [{ path: 'map', message: 'is for records: a starter has no columns' }] : [];
  return [...nameProblems(name), ...unmapped];
}

/** Returns the problem of more rows than a dataset may have. */
export function tooManyRows(count: number, most: number, path = 'records'): Finding[] {
  const message = `there are ${count} rows, but a dataset may have at most ${most} records (SERVICE_DATASET_RECORDS)`;
  return count > most ? [{ path, message }] : [];
}

export const nameProblems = (name: Json | undefined): Finding[] => (name === undefined ? [] : nameFindings(name));

/**
 * Reads records as the caller sent them. A record has the fields `id`, `group`, `input` and `expected`. Further fields
 * are beside these four or in `fields`. The `origin` of the record may also be beside them. A record without an id gets
 * one from its row, so the same rows always give the same records. More records than `most` are a problem.
 */
export function readRecords(rows: readonly Json[], most: number, map: SentDataset['map'] = []): Reading {
  const reader = new RecordReader(most, map);
  reader.check(rows);
  return { problems: reader.problems(sentList(rows)), records: reader.read(rows.slice(0, most)) };
}

/** Reads the rows of one request. All rows are checked first. After that they are read in the same order. */
export class RecordReader {
  private readonly found = new Problems();
  private readonly columns: ColumnNames;
  private readonly ids: RowIds;
  private checked = 0;
  private given = 0;

  /** `first` is the number of the first row, for ids. Without a header, the columns are those of the rows. */
  constructor(
    private readonly most: number,
    private readonly map: readonly MappedColumn[] = [],
    private readonly header?: readonly string[],
    first = 1,
  ) {
    this.ids = new RowIds(first);
    this.columns = new ColumnNames(map, header);
  }

  check(rows: readonly Json[]): void {
    for (const row of rows) {
      if (this.map.length > 0 && !this.header) this.columns.add(row);
      if (this.checked < this.most) this.ids.take(this.row(row, this.checked, this.found).id);
      this.checked++;
    }
  }

  /** Marks an id as taken, so that no row gets it. */
  take(id: string): void {
    this.ids.take(id);
  }

  /** The memory of the ids, about. */
  get bytes(): number {
    return this.ids.bytes;
  }

  /** Returns the problems of all checked rows and of their file. */
  problems({ count, problems: ofFile = new Problems() }: SentRecords): Finding[] {
    const unmapped = this.map.length > 0 ? mapProblems(this.map, this.columns.names) : [];
    if (unmapped.length > 0) return unmapped;
    const { most, found } = this;
    const tooMany = tooManyRows(count, most);
    const more = (left: number): Finding => ({ path: 'records', message: `has ${left} more problems` });
    const listed = [...tooMany, ...ofFile.listed, ...found.listed];
    return shortened(listed, more, tooMany.length + ofFile.count + found.count);
  }

  /** Returns the records of the next rows. */
  read(rows: readonly Json[]): DatasetRecord[] {
    return rows.map((row) => {
      const index = this.given++;
      const record = this.row(row, index, new Problems());
      return record.id === '' ? { ...record, id: this.ids.next(index) } : record;
    });
  }

  private row(row: Json, index: number, problems: Problems): DatasetRecord {
    return new Row(fromMessages(this.map.length > 0 ? mappedRow(row, this.map) : row), index, problems).record;
  }
}

/** Gives each record without an id the id `row-<n>`. `n` is the record's row, or the next free number after it. */
class RowIds {
  bytes = 0;
  private readonly taken = new Set<string>();
  /** All numbers from a record's row to this one are taken, so none is tried twice. */
  private row = 0;

  constructor(private readonly first: number) {}

  take(id: string): void {
    this.taken.add(id);
    this.bytes += heldBytes(id);
  }

  next(index: number): string {
    this.row = Math.max(this.row, this.first + index);
    while (this.taken.has(`row-${this.row}`)) this.row++;
    const id = `row-${this.row}`;
    this.taken.add(id);
    return id;
  }
}

class Row {
  readonly record: DatasetRecord;

  constructor(
    sent: Json,
    private readonly index: number,
    private readonly problems: Problems,
  ) {
    if (!isObject(sent)) this.refuse('', 'must be an object');
    const { own, origin } = withoutOrigin(isObject(sent) ? sent : {});
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
      ...(origin && { origin }),
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
    this.refuse(beyond, `has ${names.length} fields, but a record may have at most ${most}`);
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
    this.problems.add({ path, message: `row ${this.index + 1}: ${problem}` });
  }
}

/** Takes the origin out of a row, because it is no field. A value of another form is one. */
function withoutOrigin(row: JsonObject): { own: JsonObject; origin?: RecordOrigin } {
  const { origin, ...own } = row;
  return isOrigin(origin) ? { own, origin } : { own: row };
}

/** Returns the names that count as fields. Omits `fields` itself, and each of the four fields that is null. */
const present = (own: JsonObject): string[] =>
  Object.keys(own).filter((name) => name !== 'fields' && !(own[name] === null && FOUR.includes(name)));

/** Returns the fields beyond the four. `Object.fromEntries` keeps a name such as `__proto__` as a plain field. */
function further(own: JsonObject, within: JsonObject): JsonObject {
  const beside = Object.entries(own).filter(([name]) => name !== 'fields' && !FOUR.includes(name));
  return Object.fromEntries([...beside, ...Object.entries(within)]);
}
