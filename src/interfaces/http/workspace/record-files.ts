import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import type { Json } from '../../../domain/workspace/json.js';

/** The types of the files that an export can have, by format. */
export const fileTypes = { jsonl: 'application/x-ndjson', csv: 'text/csv' } as const;
export type FileFormat = keyof typeof fileTypes;

type Records = AsyncIterable<readonly DatasetRecord[]>;

/** Yields each record as a line of JSON. */
export async function* jsonLines(records: Records): AsyncGenerator<string> {
  for await (const part of records) yield part.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** Yields a header and a row for each record. `fields` names the columns after the four that each record has. */
export async function* csv(records: Records, fields: readonly string[]): AsyncGenerator<string> {
  yield row(['id', 'group', 'input', 'expected', ...fields]);
  for await (const part of records)
    yield part
      .map(({ id, group, input, expected, fields: own }) =>
        row([
          id,
          group,
          input,
          expected,
          ...fields.map((name) => (Object.hasOwn(own, name) ? (own[name] ?? null) : null)),
        ]),
      )
      .join('');
}

export const row = (cells: readonly Json[]): string => `${cells.map(cell).join(',')}\r\n`;

/** What a spreadsheet takes for the beginning of a formula, also in the wide forms of East Asian scripts. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?$/;

/** Returns the text of a cell. A text that a spreadsheet would run gets an apostrophe, which makes it plain text. */
function cell(value: Json): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isFormula = typeof value === 'string' && FORMULA.test(text) && !NUMBER.test(text);
  const harmless = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
