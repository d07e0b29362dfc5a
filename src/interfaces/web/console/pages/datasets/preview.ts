import { csvLines, type Format } from './source.js';
import { BASE_FIELDS } from './values.js';

/** Only this much of a file is read for its preview. */
export const PREVIEW_BYTES = 256 * 1024;
export const PREVIEW_ROWS = 10;

type Row = Readonly<Record<string, unknown>>;

/** The beginning of a file. */
export interface Preview {
  /** The names of the columns, in the order of their first use. */
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/** The columns that become fields of a record. An empty name means that no column does. */
export interface Mapping {
  readonly input: string;
  readonly expected: string;
  readonly group: string;
}

/** Reads the first rows. Leaves out a last row that the beginning cuts. Returns null if the text has another format. */
export function previewOf(format: Format, text: string, isWhole: boolean): Preview | null {
  try {
    const rows = readers[format](text, isWhole).slice(0, PREVIEW_ROWS);
    if (!rows.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row))) return null;
    return rows.length === 0
      ? null
      : { columns: [...new Set(rows.flatMap((row) => Object.keys(row as Row)))], rows: rows as Row[] };
  } catch {
    return null;
  }
}

const readers: Readonly<Record<Format, (text: string, isWhole: boolean) => unknown[]>> = {
  csv: (text, isWhole) => {
    const lines = csvLines(text).map((line) => line.replace(/\r$/, ''));
    const [header = [], ...rows] = (isWhole ? lines : lines.slice(0, -1)).filter((line) => line !== '').map(cellsOf);
    return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ''])));
  },
  lines: (text, isWhole) => {
    const lines = text.split('\n');
    const whole = (isWhole ? lines : lines.slice(0, -1)).filter((line) => line.trim() !== '');
    return whole.slice(0, PREVIEW_ROWS).map((line) => JSON.parse(line));
  },
  json: (text) => itemsIn(text).map((item) => JSON.parse(item)),
};

/** Returns the texts of the cells of a line of CSV. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g))
    cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
  return cells;
}

/** Returns the texts of the first items of a list, or of the list `records` of an object. */
function itemsIn(text: string): string[] {
  const items: string[] = [];
  const [head = ''] = /^\s*(?:\{(?:[^[]*,)?\s*"records"\s*:\s*)?\[/.exec(text) ?? [];
  let [depth, start, isQuoted] = [0, head.length, false];
  for (let at = head.length; head !== '' && at < text.length && items.length < PREVIEW_ROWS; at++) {
    const character = text[at] as string;
    if (isQuoted) {
      if (character === '\\') at++;
      isQuoted = text[at] !== '"' || character === '\\';
    } else if (character === '"') isQuoted = true;
    else if ('[{'.includes(character)) depth++;
    else if (depth > 0 && ']}'.includes(character)) depth--;
    else if (depth === 0 && ',]'.includes(character)) {
      if (text.slice(start, at).trim() !== '') items.push(text.slice(start, at));
      if (character === ']') break;
      start = at + 1;
    }
  }
  return items;
}

const usualNames: Readonly<Record<keyof Mapping, readonly string[]>> = {
  input: ['input', 'question', 'prompt', 'query', 'instruction', 'text'],
  expected: ['expected', 'answer', 'response', 'output', 'completion', 'target', 'label'],
  group: ['group', 'category', 'topic'],
};

/** Guesses by usual names which columns become the fields. */
export function guessed(columns: readonly string[]): Mapping {
  const columnOf = (field: keyof Mapping) => {
    for (const usual of usualNames[field]) {
      const found = columns.find((column) => column.trim().toLowerCase() === usual);
      if (found !== undefined) return found;
    }
    return '';
  };
  return { input: columnOf('input'), expected: columnOf('expected'), group: columnOf('group') };
}

/** Returns the parameter `map` of the import. It is empty if the columns have the names of the fields. */
export const mapOf = ({ input, expected, group }: Mapping): string =>
  Object.entries({ input, expected, group })
    .filter(([field, column]) => column !== '' && column !== field)
    .map(([field, column]) => `${field}:${column}`)
    .join(',');

export interface Message {
  readonly role: string;
  readonly content: unknown;
}

/** Returns the chat messages of a row of a file for fine-tuning, or null for any other row. */
export function messagesIn(row: Row): readonly Message[] | null {
  const { messages } = row;
  if ('input' in row || 'expected' in row || !Array.isArray(messages) || messages.length === 0) return null;
  return messages.every((one) => typeof one?.role === 'string') ? messages : null;
}

/** Returns a row with the names of its fields after the import. */
export function mappedTo(row: Row, mapping: Mapping): Row {
  const fields = new Map(Object.entries(mapping).map(([field, column]) => [column, field]));
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [fields.get(name) ?? name, value]));
}

/** Returns the columns of the preview: the fields of a record that the rows have, then their other columns. */
export const shownFields = (rows: readonly Row[]): string[] => [
  ...BASE_FIELDS.filter((name) => ['input', 'expected'].includes(name) || rows.some((row) => name in row)),
  ...new Set(
    rows.flatMap((row) => Object.keys(row)).filter((name) => !(BASE_FIELDS as readonly string[]).includes(name)),
  ),
];
