import { parseExact } from './values.js';

/** One problem of a file. The `path` of a problem in a row begins with `records.<index>`. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** The formats of a file that the service imports. */
export const formats = {
  csv: { title: 'CSV', type: 'text/csv' },
  lines: { title: 'JSON Lines', type: 'application/x-ndjson' },
  json: { title: 'JSON', type: 'application/json' },
} as const;
export type Format = keyof typeof formats;

const FORMAT_OF_ENDING: Readonly<Record<string, Format>> = {
  csv: 'csv',
  json: 'json',
  jsonl: 'lines',
  ndjson: 'lines',
};

/** Guesses the format by the name of the file, or by the beginning of its text. */
export function formatOf(fileName: string, text: string): Format {
  const named = FORMAT_OF_ENDING[fileName.split('.').at(-1)?.toLowerCase() ?? ''];
  if (named) return named;
  const start = text.trimStart();
  if (start.startsWith('[')) return 'json';
  if (!start.startsWith('{')) return 'csv';
  const [first = '', ...rest] = start.trimEnd().split('\n');
  return isJson(first) && (rest.length > 0 || !recordsIn(first)) ? 'lines' : 'json';
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** A piece of a file. `row` is the index of its record, or null for the header and for empty lines. */
export interface Piece {
  readonly text: string;
  readonly row: number | null;
}

/** Splits a file into its rows, so that each row can be shown and corrected beside its findings. */
export function piecesOf(format: Format, text: string): Piece[] {
  let row = 0;
  const count = (piece: string, isRow: boolean): Piece => ({ text: piece, row: isRow ? row++ : null });
  if (format === 'json') return (recordsIn(text) ?? []).map((record) => count(JSON.stringify(record, null, 2), true));
  if (format === 'lines') return text.split('\n').map((line) => count(line, line.trim() !== ''));
  let header = true;
  return csvLines(text).map((line) => {
    const filled = line.replace(/\r$/, '') !== '';
    const piece = count(line, filled && !header);
    if (filled) header = false;
    return piece;
  });
}

/** Returns the text of the file that consists of these pieces. */
export const joined = (format: Format, pieces: readonly Piece[]): string => {
  const texts = pieces.map(({ text }) => text);
  return format === 'json' ? `[${texts.join(',')}]` : texts.join('\n');
};

/** Splits CSV at the line ends outside quotes. */
export function csvLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] !== '\n' || quoted) continue;
    lines.push(text.slice(start, at));
    start = at + 1;
  }
  return [...lines, text.slice(start)];
}

function recordsIn(text: string): unknown[] | null {
  try {
    const value = parseExact(text);
    const records = Array.isArray(value) ? value : (value as { records?: unknown } | null)?.records;
    return Array.isArray(records) ? records : null;
  } catch {
    return null;
  }
}

/** Returns the body of an import of JSON. Adds the name to a list of records. Leaves any other text to the service. */
export function jsonBody(name: string, text: string): string {
  const named = name === '' ? '' : `"name":${JSON.stringify(name)},`;
  if (text.trimStart().startsWith('[')) return `{${named}"records":${text}}`;
  const records = recordsIn(text);
  return records ? `{${named}"records":${JSON.stringify(records)}}` : text;
}

/** A refused row with all its findings. `row` is null for the file as a whole. */
export interface RefusedRow {
  readonly row: number | null;
  readonly findings: readonly Finding[];
}

/** Groups findings by their rows. The findings of the file as a whole come first. */
export function byRow(findings: readonly Finding[]): RefusedRow[] {
  const rows = new Map<number | null, Finding[]>();
  for (const finding of findings) {
    const found = /^records\.(\d+)/.exec(finding.path);
    const row = found ? Number(found[1]) : null;
    rows.set(row, [...(rows.get(row) ?? []), finding]);
  }
  return [...rows].map(([row, found]) => ({ row, findings: found })).sort((a, b) => (a.row ?? -1) - (b.row ?? -1));
}
