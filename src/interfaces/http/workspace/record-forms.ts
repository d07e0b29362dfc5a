import { InvalidRequest } from '../../../domain/shared/errors.js';
import {
  MOST_RECORDS,
  type Problems,
  recordLimits,
  type SentRecords,
  sentList,
} from '../../../domain/workspace/dataset-import.js';
import type { Json, JsonObject } from '../../../domain/workspace/json.js';
import { type BodyForm, type BodyForms, MAX_DEPTH } from '../body.js';
import { checkJsonText, inexactNumber, parsedJson, TOO_MANY_VALUES } from '../json-body.js';
import { HttpRefusal } from '../refusals.js';
import type { SpooledBody } from '../spooled-body.js';
import { rowsOfCsv } from './csv-rows.js';
import { JsonItems, type Rest } from './json-items.js';
import { RowCollector } from './row-collector.js';

/** Reads the rows of a file, and yields them in parts. Notes in `rows` what else there is to know about the file. */
type RowReader = (texts: AsyncIterable<string>, rows: RowCollector) => AsyncGenerator<readonly Json[]>;

/** The rows of a body. Each reading parses the body again, so that the rows are never in memory together. */
export class Rows implements SentRecords {
  constructor(
    private readonly body: SpooledBody,
    private readonly reader: RowReader,
    readonly count: number,
    readonly problems: Problems,
    readonly columns: readonly string[] | undefined,
  ) {}

  async *batches(): AsyncGenerator<readonly Json[]> {
    const rows = new RowCollector();
    for await (const part of this.reader(this.body.texts(notUtf8), rows)) if (part.length > 0) yield part;
  }
}

/** Records of a body that was parsed as a whole are in memory already. */
export const sentRecords = (records: readonly Json[] | Rows): SentRecords =>
  records instanceof Rows ? records : sentList(records);

const notUtf8 = () => new InvalidRequest([{ path: '', message: 'must be UTF-8' }]);
const jsonNotUtf8 = () => new HttpRefusal('malformed_json', 'The body is not UTF-8.');

/** Reads the whole body once, to count its rows and to find the problems of its form. */
async function rowsOf(body: SpooledBody, reader: RowReader, refusal: () => Error = notUtf8): Promise<Rows> {
  const rows = new RowCollector();
  for await (const _ of reader(body.texts(refusal), rows));
  return new Rows(body, reader, rows.count, rows.problems, rows.columns);
}

/** Lists the media types of files that can be imported as a dataset. The value is the one that an equal JSON body has. */
export const recordForms: BodyForms = {
  'text/csv': {
    example: 'id,group,input,expected\nfr,europe,What is the capital of France?,Paris\n',
    read: async (body) => ({ records: await rowsOf(body, rowsOfCsv) }),
  },
  'application/x-ndjson': {
    example: '{"id":"fr","group":"europe","input":"What is the capital of France?","expected":"Paris"}\n',
    read: async (body) => ({ records: await rowsOf(body, rowsOfLines) }),
  },
};

/** Reads a JSON object with a list of records. Its other members are parsed as a whole. */
export const jsonWithRecords: BodyForm = {
  example: '',
  async read(body) {
    const found: { rest: Rest | null } = { rest: null };
    const reader: RowReader = (texts, rows) => rowsOfJson(texts, rows, found);
    const rows = await rowsOf(body, reader, jsonNotUtf8);
    const { text, lists } = found.rest ?? tooLong();
    const { problem, member } = checkJsonText(text);
    if (problem) throw new InvalidRequest([{ path: member, message: problem }]);
    const value = parsedJson(text) as JsonObject;
    if (lists > 1) throw new InvalidRequest([{ path: 'records', message: 'is there twice' }]);
    const inexact = inexactNumber(text);
    if (inexact) throw new InvalidRequest([{ path: '', message: inexact }]);
    return lists === 1 ? { ...value, records: rows } : value;
  },
};

function tooLong(): never {
  throw new InvalidRequest([{ path: '', message: 'is too long without its records' }]);
}

/** Reads each item of `records` as a record. Throws malformed_json for the first item that is not JSON. */
async function* rowsOfJson(
  texts: AsyncIterable<string>,
  rows: RowCollector,
  found: { rest: Rest | null },
): AsyncGenerator<readonly Json[]> {
  const items = new JsonItems('records', recordLimits.bytes, MOST_RECORDS);
  for await (const text of texts) {
    for (const item of items.add(text)) {
      if (rows.isFull) rows.skip();
      else if (item === null) rows.refuse(`row ${rows.count + 1}: ${TOO_LONG}`);
      else takeItem(item, rows);
    }
    yield rows.take();
  }
  found.rest = items.end();
}

const TOO_DEEP = `must not be nested deeper than ${MAX_DEPTH} levels`;
const TOO_LONG = `has more than ${recordLimits.bytes} characters`;

/** An item lies within two levels of the body. */
function takeItem(text: string, rows: RowCollector): void {
  const row = rows.count + 1;
  const { problem } = checkJsonText(text, MAX_DEPTH - 2);
  if (problem) {
    rows.refuse(`row ${row}: ${problem === TOO_MANY_VALUES ? problem : TOO_DEEP}`);
    return;
  }
  const item = parsedJson(text, `Row ${row} of the records`) as Json;
  const inexact = inexactNumber(text);
  if (inexact) rows.refuse(`row ${row}: ${inexact}`);
  else rows.add(item);
}

/** Reads each line as a record. */
async function* rowsOfLines(texts: AsyncIterable<string>, rows: RowCollector): AsyncGenerator<readonly Json[]> {
  let [number, line] = [0, ''];
  const end = () => {
    takeLine(line, ++number, rows);
    line = '';
  };
  for await (const text of texts) {
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      line = longer(line, text.slice(from, to));
      from = to + 1;
      end();
    }
    line = longer(line, text.slice(from));
    yield rows.take();
  }
  if (line !== '') end();
  yield rows.take();
}

/** Joins two parts of a line. Does not keep more than is needed to find that the line is too long. */
const longer = (line: string, part: string): string => (line.length > recordLimits.bytes ? line : line + part);

function takeLine(line: string, number: number, rows: RowCollector): void {
  const isLong = line.length > recordLimits.bytes;
  if (!isLong && line.trim() === '') return;
  if (rows.isFull) rows.skip();
  else if (isLong) rows.refuse(`line ${number} ${TOO_LONG}`);
  else {
    const { problem } = checkJsonText(line);
    if (problem) rows.refuse(`line ${number}: ${problem}`);
    else parseLine(line, number, rows);
  }
}

function parseLine(line: string, number: number, rows: RowCollector): void {
  try {
    const record = JSON.parse(line);
    const inexact = inexactNumber(line);
    if (inexact) rows.refuse(`line ${number}: ${inexact}`);
    else rows.add(record);
  } catch (error) {
    // The parser's own message quotes a piece of the line, which may be secret.
    const where = /at position \d+/.exec((error as Error).message)?.[0];
    rows.refuse(`line ${number} is not JSON${where ? `: unexpected text ${where}` : ''}`);
  }
}
