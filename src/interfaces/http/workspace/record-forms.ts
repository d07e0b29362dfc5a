import { pipeline } from 'node:stream/promises';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type CsvError, parse } from 'csv-parse';
import { MAX_VALUES } from '../../../application/shared/memory-budget.js';
import { atMost, quoted } from '../../../domain/shared/text.js';
import { Problems, recordLimits, type SentRecords } from '../../../domain/workspace/dataset-import.js';
import type { Json, JsonObject } from '../../../domain/workspace/json.js';
import type { BodyForms } from '../body.js';
import { checkJsonText, inexactNumber, TOO_MANY_VALUES } from '../json-body.js';

/** Lists the media types of files that can be imported as a dataset. */
export const recordForms: BodyForms = {
  'text/csv': {
    example: 'id,group,input,expected\nfr,europe,What is the capital of France?,Paris\n',
    read: (bytes) => read(csvRows, bytes),
  },
  'application/x-ndjson': {
    example: '{"id":"fr","group":"europe","input":"What is the capital of France?","expected":"Paris"}\n',
    read: (bytes) => read(jsonLines, bytes),
  },
};

/** The rows that are read together. Other requests can run after them. */
const BATCH = 500;

/** Yields a list of rows in batches. Other requests can run between them. */
export async function* inBatches(rows: readonly Json[]): AsyncGenerator<readonly Json[]> {
  for (let at = 0; at < rows.length; at += BATCH) {
    if (at > 0) await yieldToEventLoop();
    yield rows.slice(at, at + BATCH);
  }
}

/** Holds the rows read so far. An unreadable row becomes an empty record, so that later rows keep their numbers. */
export class Rows implements SentRecords {
  readonly records: Json[] = [];
  readonly problems = new Problems();
  columns?: readonly string[];
  count = 0;
  private values = 0;

  batches(): AsyncIterable<readonly Json[]> {
    return inBatches(this.records);
  }

  /** Adds a row with this number of values. Only counts it as soon as the rows have more values than JSON may have. */
  add(record: Json, values: number): void {
    this.count++;
    if (this.isFull) return;
    this.values += values;
    if (this.isFull) this.problems.add({ path: '', message: TOO_MANY_VALUES });
    else this.records.push(record);
  }

  /** Adds an unreadable row with its problem. */
  refuse(message: string): void {
    this.problems.add({ path: `records.${this.count}`, message });
    this.add({}, 1);
  }

  /** Whether further rows are only counted. */
  get isFull(): boolean {
    return this.values > MAX_VALUES;
  }
}

export const sentRecords = (records: readonly Json[] | Rows): SentRecords =>
  records instanceof Rows ? records : { batches: () => inBatches(records), count: records.length };

/** Returns the value that an equal JSON body would have. Its `Rows` also hold problems with the form of the file. */
async function read(form: (bytes: Buffer, rows: Rows) => Promise<void>, bytes: Buffer): Promise<unknown> {
  const rows = new Rows();
  await form(bytes, rows);
  return { records: rows };
}

/** Reads each line as a record. */
async function jsonLines(bytes: Buffer, rows: Rows): Promise<void> {
  let number = 0;
  let sinceYield = 0;
  for (const line of linesOf(bytes)) {
    number++;
    sinceYield += line.length + 1;
    if (sinceYield > SLICE) {
      sinceYield = 0;
      await yieldToEventLoop();
    }
    if (line.trim() === '') continue;
    if (rows.isFull) {
      rows.add({}, 0);
      continue;
    }
    const { problem, values } = checkJsonText(line);
    if (problem) rows.refuse(`line ${number}: ${problem}`);
    else parseLine({ line, number, values }, rows);
  }
}

function* linesOf(bytes: Buffer): Generator<string> {
  for (let from = 0, to = 0; from < bytes.length; from = to + 1) {
    to = bytes.indexOf('\n', from);
    if (to < 0) to = bytes.length;
    yield bytes.toString('utf8', from, to);
  }
}

function parseLine({ line, number, values }: { line: string; number: number; values: number }, rows: Rows): void {
  try {
    const record = JSON.parse(line);
    const inexact = inexactNumber(line);
    if (inexact) rows.refuse(`line ${number}: ${inexact}`);
    else rows.add(record, values);
  } catch (error) {
    // The parser's own message quotes a piece of the line, which may be secret.
    const where = /at position \d+/.exec((error as Error).message)?.[0];
    rows.refuse(`line ${number} is not JSON${where ? `: unexpected text ${where}` : ''}`);
  }
}

/** Reads the first row as the names of the columns, and each later row as a record of strings. */
async function csvRows(bytes: Buffer, rows: Rows): Promise<void> {
  let header: Header | null = null;
  // Rows are taken in `on_record`, not from the output: then rows and skipped rows come in the order of the file.
  const take = (cells: readonly string[]): null => {
    if (header) takeRow(header, cells, rows);
    else header = takeHeader(cells, rows);
    return null;
  };
  const parser = parse({
    skip_empty_lines: true,
    relax_column_count: true,
    skip_records_with_error: true,
    on_record: take,
    on_skip: (error): undefined => {
      rows.refuse(csvProblem(error));
    },
  });
  await pipeline(slices(bytes), parser.resume());
  if (!header) rows.problems.add({ path: 'records', message: 'the first line must name the columns' });
}

interface Header {
  /** Holds at most as many names as a record may have fields. A header with more is refused. */
  readonly names: readonly string[];
  readonly columns: number;
}

function takeHeader(cells: readonly string[], rows: Rows): Header {
  const { fields, fieldName: maxLength } = recordLimits;
  const names = cells.slice(0, fields).map((name) => name.trim());
  const refuse = (message: string) => rows.problems.add({ path: 'records', message: `the first line ${message}` });
  if (cells.length > fields) refuse(`names ${cells.length} columns, but a record may have at most ${fields} fields`);
  rows.columns = names;
  names.forEach((name, index) => {
    if (name === '') refuse(`has no name for column ${index + 1}`);
    else if (names.indexOf(name) < index)
      refuse(`names column ${index + 1} "${quoted(name)}", which another column has`);
    else if (!atMost(name, maxLength)) {
      refuse(`names column ${index + 1} "${quoted(name)}", with more than ${maxLength} characters`);
    }
  });
  // A long name is shortened, so that it is not refused again in each row.
  return { names: names.map((name) => (atMost(name, maxLength) ? name : quoted(name))), columns: cells.length };
}

function takeRow({ names, columns }: Header, cells: readonly string[], rows: Rows): void {
  if (rows.isFull) rows.add({}, 0);
  else if (cells.length === columns) {
    const record: JsonObject = Object.fromEntries(names.map((name, index) => [name, cells[index] as string]));
    rows.add(record, cells.length);
  } else {
    const row = rows.count + 1;
    rows.refuse(`row ${row}: has ${cells.length} columns, but the first line names ${columns}`);
  }
}

/** Returns a message about a problem. The library's own message quotes a piece of the file, which may be secret. */
function csvProblem(error: CsvError | undefined): string {
  const { code, lines } = (error ?? {}) as { code?: string; lines?: number };
  const problem = code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quoted text has no end' : 'a quote is where none may be';
  return `line ${lines}: ${problem}; put text with quotes in it into quotes, and double each quote within`;
}

/** The number of bytes that are parsed in a few milliseconds. */
const SLICE = 16 * 1024;

/** Yields the file in slices. Other requests can run after each slice. */
async function* slices(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) {
    yield bytes.subarray(at, at + SLICE);
    await yieldToEventLoop();
  }
}
