import type { Json } from '../../domain/workspace/json.js';
import { StreamedResponse } from './contract.js';

/** The types of the files that an export can have, by format. */
export const fileTypes = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const;
export const fileFormats = ['jsonl', 'csv'] as const satisfies readonly (keyof typeof fileTypes)[];

interface ExportedFile {
  /** The name of the file without its extension. */
  readonly name: string;
  readonly format: keyof typeof fileTypes;
  readonly chunks: AsyncIterable<string>;
  readonly signal: AbortSignal;
}

/** Answers with a file that a browser saves. It is sent as fast as the caller reads. */
export function fileAnswer({ name, format, chunks, signal }: ExportedFile): StreamedResponse {
  const file = `${name.replace(/[^\w.-]+/g, '-')}.${format}`;
  const headers = {
    'Content-Type': `${fileTypes[format]}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${file}"`,
  };
  return new StreamedResponse(200, headers, chunks, { expired: signal });
}

/** Yields each item as a line of JSON. */
export async function* jsonLines(parts: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const part of parts) yield part.map((item) => `${JSON.stringify(item)}\n`).join('');
}

/** Yields a row with the names of the columns, and a row for each item. */
export async function* csvRows<Item>(
  columns: readonly string[],
  parts: AsyncIterable<readonly Item[]>,
  cellsOf: (item: Item) => readonly Json[],
): AsyncGenerator<string> {
  yield row(columns);
  for await (const part of parts) yield part.map((item) => row(cellsOf(item))).join('');
}

const row = (cells: readonly Json[]): string => `${cells.map(cell).join(',')}\r\n`;

/** Blanks, and a quote: it is written twice, so a spreadsheet that splits the cell may read an empty text before a formula. */
const SKIPPED = '[ "\\v\\f\\xa0\\u1680\\u2000-\\u200b\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]*';
/** The beginning of a formula of a spreadsheet, also in the wide forms of East Asian scripts. */
const SIGN = `${SKIPPED}[=+\\-@＝＋－＠]`;
const BEGINNING = new RegExp(`^(?:[\\t\\r\\n]|${SIGN})`);
/** A spreadsheet that splits a file at semicolons or tabs does not see the quotes, so it may begin a cell here. */
const WITHIN = new RegExp(`([;\\t\\r\\n])(?=${SIGN})`, 'g');
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** Returns the text of a cell. Each place that a spreadsheet could run gets an apostrophe, which makes it plain text. */
function cell(value: Json): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const harmless = NUMBER.test(text) || typeof value === 'number' ? text : withoutFormulas(text);
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const withoutFormulas = (text: string): string => (BEGINNING.test(text) ? "'" : '') + text.replace(WITHIN, "$1'");
