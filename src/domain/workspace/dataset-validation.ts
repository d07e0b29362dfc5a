import type { Finding } from '../shared/errors.js';
import { quoted } from '../shared/text.js';
import type { DatasetRecord } from './dataset-record.js';
import type { Json } from './json.js';

export interface ValidationFinding extends Finding {
  readonly code: 'no_records' | 'duplicate_id' | 'empty_input' | 'empty_expected' | 'more_findings';
}

/** Tells whether a dataset can be frozen, and if not, why. */
export interface Validation {
  readonly valid: boolean;
  readonly findings: readonly ValidationFinding[];
}

const LISTED = 100;

/** Returns the first 100 findings, and then one from `more` with the number of the others. */
export function shortened<F>(findings: readonly F[], more: (count: number) => F): F[] {
  const left = findings.length - LISTED;
  return left > 0 ? [...findings.slice(0, LISTED), more(left)] : [...findings];
}

export function validate(records: readonly DatasetRecord[]): Validation {
  const firstRows = new Map<string, number>();
  const findings = records.flatMap((record, index) => {
    const found: ValidationFinding[] = [];
    const add = (code: ValidationFinding['code'], field: string, what: string) =>
      found.push({
        code,
        path: `records.${index}.${field}`,
        message: `row ${index + 1} (id "${quoted(record.id)}") ${what}`,
      });
    const first = firstRows.get(record.id);
    if (first !== undefined) add('duplicate_id', 'id', `has the id of row ${first}: ids must be unique`);
    else firstRows.set(record.id, index + 1);
    if (isEmpty(record.input)) add('empty_input', 'input', 'has no input');
    if (isEmpty(record.expected)) add('empty_expected', 'expected', 'has no expected value');
    return found;
  });
  if (records.length === 0)
    findings.push({ code: 'no_records', path: 'records', message: 'there must be at least one record' });
  const more = (count: number): ValidationFinding => ({
    code: 'more_findings',
    path: 'records',
    message: `and ${count} more findings`,
  });
  return { valid: findings.length === 0, findings: shortened(findings, more) };
}

/** Tells whether a value is null, blank text, an empty list or an empty object. */
function isEmpty(value: Json): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
