import type { Finding } from '../shared/errors.js';
import { quoted } from '../shared/text.js';
import { isObject, type Json, type JsonObject } from './json.js';

/** The fields of a record that a column of a file can become. */
export const mappedFields = ['id', 'group', 'input', 'expected'] as const;

export interface MappedColumn {
  readonly field: (typeof mappedFields)[number];
  readonly column: string;
}

/** A message names at most this many columns. */
const NAMED = 50;

/** Returns why rows with these columns cannot be mapped. */
export function mapProblems(map: readonly MappedColumn[], columns: ReadonlySet<string>): Finding[] {
  const fields: readonly string[] = map.map(({ field }) => field);
  const mapped = map.map(({ column }) => column);
  const named = [...columns].slice(0, NAMED).map((column) => `"${quoted(column)}"`);
  const rest = columns.size > NAMED ? `, and ${columns.size - NAMED} more` : '';
  return map.flatMap(({ field, column }, index): Finding[] => {
    const refusal = (message: string) => [{ path: 'map', message }];
    if (fields.indexOf(field) < index) return refusal(`names "${field}" twice`);
    if (mapped.indexOf(column) < index) return refusal(`names the column "${quoted(column)}" twice`);
    if (!columns.has(column))
      return refusal(`there is no column "${quoted(column)}": the columns are ${named.join(', ') || 'missing'}${rest}`);
    if (columns.has(field) && !mapped.includes(field))
      return refusal(`"${quoted(column)}" cannot become "${field}": another column has that name, so map that one too`);
    return [];
  });
}

/** Limits the names that are remembered, besides those that a map names. */
const REMEMBERED = 10_000;

/** Collects the names of the columns of a file: those in its header, or those of its rows. */
export class ColumnNames {
  private readonly found: Set<string>;
  private readonly wanted: ReadonlySet<string>;

  constructor(map: readonly MappedColumn[], header: readonly string[] = []) {
    this.found = new Set(header);
    this.wanted = new Set(map.flatMap(({ field, column }) => [field, column]));
  }

  get names(): ReadonlySet<string> {
    return this.found;
  }

  add(row: Json): void {
    if (!isObject(row)) return;
    for (const name of Object.keys(row))
      if (this.found.size < REMEMBERED || this.wanted.has(name)) this.found.add(name);
  }
}

/** Returns a row with the names of the mapped columns replaced. `Object.fromEntries` keeps a name such as `__proto__`. */
export function mappedRow(row: Json, map: readonly MappedColumn[]): Json {
  if (!isObject(row)) return row;
  const fields = new Map(map.map(({ field, column }) => [column, field]));
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [fields.get(name) ?? name, value]));
}

interface Message extends JsonObject {
  readonly role: string;
}

const isMessage = (value: Json): value is Message => isObject(value) && typeof value.role === 'string';

/**
 * Reads a row of chat messages, as files for fine-tuning have them. The last message is the expected answer if it is
 * the assistant's. The messages before it are the input. Returns any other row as it is.
 */
export function fromMessages(row: Json): Json {
  if (!isObject(row) || Object.hasOwn(row, 'input') || Object.hasOwn(row, 'expected')) return row;
  const { messages, ...others } = row;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) return row;
  const last = messages.at(-1) as Message;
  const isAnswered = last.role === 'assistant';
  const asked: readonly Message[] = isAnswered ? messages.slice(0, -1) : messages;
  const [first] = asked;
  const input = asked.length === 1 && first?.role === 'user' ? textIn(first) : asked;
  return { ...others, input, expected: isAnswered ? textIn(last) : null };
}

/** Returns the text of a message. Returns the message itself if it has more than text, such as calls of tools. */
export function textIn(message: JsonObject): Json {
  const { content } = message;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return message;
  const texts = content.map((part: Json) => (isObject(part) && part.type === 'text' ? part.text : null));
  return texts.every((text) => typeof text === 'string') ? texts.join('') : message;
}
