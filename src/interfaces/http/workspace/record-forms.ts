import { pipeline } from 'node:stream/promises';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type CsvError, parse } from 'csv-parse';
import { MAX_VALUES } from '../../../application/shared/memory-budget.js';
import { type Finding, InvalidRequest } from '../../../domain/shared/errors.js';
import { atMost, quoted } from '../../../domain/shared/text.js';
import { recordLimits, type SentRecords } from '../../../domain/workspace/dataset-import.js';
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

/** Holds the rows read so far. An unreadable row becomes an empty record, so that later rows keep their numbers. */
export class Rows implements SentRecords {
  readonly records: Json[] = [];
  readonly problems: Finding[] = [];

  /** Adds a problem of the next row. Does nothing after enough rows: reading stops there, maybe within a row. */
  refuse(message: string): void {
    if (this.enough) return;
    this.problems.push({ path: `records.${this.records.length}`, message });
    this.records.push({});
  }

  /** True if one row more than the limit has been read. The file is then refused, so reading can stop. */
  get enough(): boolean {
    return this.records.length > recordLimits.records;
  }
}

/** Returns the value that an equal JSON body would have. Its `Rows` also hold problems with the form of the file. */
async function read(form: (bytes: Buffer, rows: Rows) => Promise<void>, bytes: Buffer): Promise<unknown> {
  const rows = new Rows();
  await form(bytes, rows);
  return { records: rows };
}

/** Reads each line as a record. */
async function jsonLines(bytes: Buffer, rows: Rows): Promise<void> {
  let number = 0;
  let total = 0;
  let sinceYield = 0;
  for (const line of linesOf(bytes)) {
    number++;
    sinceYield += line.length + 1;
    if (sinceYield > SLICE) {
      sinceYield = 0;
      await yieldToEventLoop();
    }
    if (line.trim() === '') continue;
    const { problem, values } = checkJsonText(line);
    total += values;
    if (total > MAX_VALUES) throw new InvalidRequest([{ path: '', message: TOO_MANY_VALUES }]);
    if (problem) rows.refuse(`line ${number}: ${problem}`);
    else parseLine(line, number, rows);
    if (rows.enough) return;
  }
}

function* linesOf(bytes: Buffer): Generator<string> {
  for (let from = 0, to = 0; from < bytes.length; from = to + 1) {
    to = bytes.indexOf('\n', from);
    if (to < 0) to = bytes.length;
    yield bytes.toString('utf8', from, to);
  }
}

function parseLine(line: string, number: number, rows: Rows): void {
  try {
    const record = JSON.parse(line);
    const inexact = inexactNumber(line);
    if (inexact) rows.refuse(`line ${number}: ${inexact}`);
    else rows.records.push(record);
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
  await pipeline(slices(bytes, rows), parser.resume());
  if (!header) rows.problems.unshift({ path: 'records', message: 'the first line must name the columns' });
}

interface Header {
  /** Holds at most one name more than a record may have fields. If it holds that many, the rows are refused. */
  readonly names: readonly string[];
  readonly columns: number;
}

function takeHeader(cells: readonly string[], rows: Rows): Header {
  const { fields, fieldName: maxLength } = recordLimits;
  const names = cells.slice(0, fields + 1).map((name) => name.trim());
  names.forEach((name, index) => {
    const refuse = (message: string) => rows.problems.push({ path: 'records', message: `the first line ${message}` });
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
  if (rows.enough) return;
  if (cells.length === columns) {
    const record: JsonObject = Object.fromEntries(names.map((name, index) => [name, cells[index] as string]));
    rows.records.push(record);
  } else {
    const row = rows.records.length + 1;
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

/** Yields the file in slices until enough rows are read. Other requests can run after each slice. */
async function* slices(bytes: Buffer, rows: Rows): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length && !rows.enough; at += SLICE) {
    yield bytes.subarray(at, at + SLICE);
    await yieldToEventLoop();
  }
}
