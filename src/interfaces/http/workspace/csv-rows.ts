import { type CsvError, parse } from 'csv-parse';
import { atMost, quoted } from '../../../domain/shared/text.js';
import { recordLimits } from '../../../domain/workspace/dataset-import.js';
import type { Json, JsonObject } from '../../../domain/workspace/json.js';
import type { RowCollector } from './row-collector.js';

/** Reads the first row as the names of the columns, and each later row as a record of strings. */
export async function* rowsOfCsv(texts: AsyncIterable<string>, rows: RowCollector): AsyncGenerator<readonly Json[]> {
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
    max_record_size: recordLimits.bytes,
    on_record: take,
    on_skip: (error): undefined => {
      rows.refuse(csvProblem(error));
    },
  }).resume();
  const failed = new Promise<never>((_, reject) => parser.once('error', reject));
  failed.catch(() => undefined);
  const done = (act: (then: () => void) => void) => Promise.race([new Promise<void>(act), failed]);
  for await (const text of texts) {
    await done((then) => parser.write(text, () => then()));
    yield rows.take();
  }
  await done((then) => parser.end(() => then()));
  if (!header) rows.problems.add({ path: 'records', message: 'the first line must name the columns' });
  yield rows.take();
}

interface Header {
  /** Holds at most as many names as a record may have fields. A header with more is refused. */
  readonly names: readonly string[];
  readonly columns: number;
}

function takeHeader(cells: readonly string[], rows: RowCollector): Header {
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

function takeRow({ names, columns }: Header, cells: readonly string[], rows: RowCollector): void {
  if (rows.isFull) rows.skip();
  else if (cells.length === columns) {
    const record: JsonObject = Object.fromEntries(names.map((name, index) => [name, cells[index] as string]));
    rows.add(record);
  } else {
    const row = rows.count + 1;
    rows.refuse(`row ${row}: has ${cells.length} columns, but the first line names ${columns}`);
  }
}

/** Returns a message about a problem. The library's own message quotes a piece of the file, which may be secret. */
function csvProblem(error: CsvError | undefined): string {
  const { code, lines } = (error ?? {}) as { code?: string; lines?: number };
  if (code === 'CSV_MAX_RECORD_SIZE') return `line ${lines}: a row has more than ${recordLimits.bytes} bytes`;
  const problem = code === 'CSV_QUOTE_NOT_CLOSED' ? 'a quoted text has no end' : 'a quote is where none may be';
  return `line ${lines}: ${problem}; put text with quotes in it into quotes, and double each quote within`;
}
