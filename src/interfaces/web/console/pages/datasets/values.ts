import type { components } from '../../shared/openapi-types.js';

export type DatasetRecord = components['schemas']['DatasetRecord'];

type Finding = components['schemas']['Dataset']['validation']['findings'][number];

/** Returns all findings of records, by the rules of the service, which counts them all but lists only the first. */
export function allFindings(records: readonly DatasetRecord[]): Finding[] {
  const firstRows = new Map<string, number>();
  const findings = records.flatMap((record, index) => {
    const row = `row ${index + 1} (id "${shortened(record.id)}")`;
    const finding = (code: string, field: string, problem: string): Finding => ({
      code,
      path: `records.${index}.${field}`,
      message: `${row} ${problem}`,
    });
    const first = firstRows.get(record.id);
    if (first === undefined) firstRows.set(record.id, index + 1);
    return [
      ...(first ? [finding('duplicate_id', 'id', `has the id of row ${first}: ids must be unique`)] : []),
      ...(isEmpty(record.input) ? [finding('empty_input', 'input', 'has no input')] : []),
      ...(isEmpty(record.expected) ? [finding('empty_expected', 'expected', 'has no expected value')] : []),
    ];
  });
  if (records.length > 0) return findings;
  return [{ code: 'no_records', path: 'records', message: 'there must be at least one record' }];
}

/** Returns the first 100 characters. */
function shortened(text: string): string {
  const characters = [...text.slice(0, 202)];
  return characters.length > 100 ? `${characters.slice(0, 100).join('')}…` : text;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** The fields that every record has, in the order of the columns. */
export const BASE_FIELDS = ['id', 'group', 'input', 'expected'] as const;

/** Returns a value of a record as text. A string is not changed, and any other value becomes JSON. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2);

/** Returns the names of the further fields, in the order of their first use. */
export const furtherFields = (records: readonly DatasetRecord[]): string[] => [
  ...new Set(records.flatMap(({ fields }) => Object.keys(fields))),
];

/** Returns the value of one of the BASE_FIELDS or of a further field. */
export const fieldOf = (record: DatasetRecord, name: string): unknown =>
  (BASE_FIELDS as readonly string[]).includes(name) ? record[name as 'id'] : own(record.fields, name);

/** Returns the value at a path in an answer of the service, such as `fields.level` in a comparison. */
export const valueAt = (record: DatasetRecord, path: string): unknown =>
  path.startsWith('fields.') ? own(record.fields, path.slice('fields.'.length)) : fieldOf(record, path);

const own = (fields: DatasetRecord['fields'], name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** Returns whether two JSON values are the same. Ignores the order of members. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  const at = (value: object, name: string) => (value as Record<string, unknown>)[name];
  return names.every((name) => Object.hasOwn(other, name) && isSame(at(one, name), at(other, name)));
}

type ExactJson = JSON & { rawJSON?: (text: string) => unknown };
type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;

/** Parses JSON. Keeps the text of a number that would lose digits, so that the service can refuse the number. */
export function parseExact(text: string): unknown {
  const { rawJSON } = JSON as ExactJson;
  const keepDigits: Reviver = (_, value, context) =>
    rawJSON && typeof value === 'number' && context?.source && String(value) !== context.source
      ? rawJSON(context.source)
      : value;
  return JSON.parse(text, keepDigits as (name: string, value: unknown) => unknown);
}
