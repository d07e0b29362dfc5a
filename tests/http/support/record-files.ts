export type Fields = Readonly<Record<string, string>>;

/** Encodes records in each media type. All records of a call must have the same fields. */
export const forms: [string, (records: readonly Fields[]) => string][] = [
  ['application/json', (records) => JSON.stringify({ records })],
  ['text/csv', (records) => [Object.keys(records[0] ?? {}), ...records.map(Object.values)].join('\n')],
  ['application/x-ndjson', (records) => records.map((one) => JSON.stringify(one)).join('\n')],
];

export const record = (id: number, more: Fields = {}): Fields => ({
  id: `r${id}`,
  group: 'g',
  input: 'in',
  expected: 'out',
  ...more,
});
export const extraFields = (count: number, value = 'x'): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`field_${n}`, value]));
export const many = (count: number, more: Fields = {}) => Array.from({ length: count }, (_, n) => record(n, more));
