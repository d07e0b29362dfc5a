import type { Finding } from '../shared/errors.js';
import { heldBytes, quoted } from '../shared/text.js';
import type { DatasetRecord } from './dataset-record.js';
import type { Json } from './json.js';

export const findingCodes = ['duplicate_id', 'empty_input', 'empty_expected'] as const;
export type FindingCode = (typeof findingCodes)[number];

export interface ValidationFinding extends Finding {
  readonly code: FindingCode | 'no_records' | 'more_findings';
}

/** Tells whether a dataset can be frozen, and if not, why. */
export interface Validation {
  readonly valid: boolean;
  /** The number of all findings. `findings` may list fewer. */
  readonly count: number;
  readonly findings: readonly ValidationFinding[];
}

/** The parts of a record that its validation needs. */
export interface RecordOutline {
  readonly id: string;
  readonly emptyInput: boolean;
  readonly emptyExpected: boolean;
}

export const outlineOf = ({ id, input, expected }: DatasetRecord): RecordOutline => ({
  id,
  emptyInput: isEmpty(input),
  emptyExpected: isEmpty(expected),
});

const LISTED = 100;

const NO_RECORDS: ValidationFinding = {
  code: 'no_records',
  path: 'records',
  message: 'there must be at least one record',
};

/** Validates records one after another. Keeps the ids, and the first 100 findings. */
export class Validator {
  /** The memory of the ids, about. */
  bytes = 0;
  private readonly firstRows = new Map<string, number>();
  private readonly findings: ValidationFinding[] = [];
  private rows = 0;
  private count = 0;

  /** `most` limits the listed findings. */
  constructor(private readonly most = LISTED) {}

  /** Returns the codes of the findings about this record. */
  add({ id, emptyInput, emptyExpected }: RecordOutline): FindingCode[] {
    const row = ++this.rows;
    const first = this.firstRows.get(id);
    if (first === undefined) {
      this.firstRows.set(id, row);
      this.bytes += heldBytes(id);
    }
    const found: FindingCode[] = [];
    const add = (code: FindingCode, field: string, problem: string) => {
      found.push(code);
      const message = `row ${row} (id "${quoted(id)}") ${problem}`;
      this.note({ code, path: `records.${row - 1}.${field}`, message });
    };
    if (first !== undefined) add('duplicate_id', 'id', `has the id of row ${first}: ids must be unique`);
    if (emptyInput) add('empty_input', 'input', 'has no input');
    if (emptyExpected) add('empty_expected', 'expected', 'has no expected value');
    return found;
  }

  /** Returns the result for the records so far. */
  get result(): Validation {
    if (this.rows === 0) return { valid: false, count: 1, findings: [NO_RECORDS] };
    const { count } = this;
    const more = (left: number) => ({
      code: 'more_findings' as const,
      path: 'records',
      message: `and ${left} more findings`,
    });
    return { valid: count === 0, count, findings: shortened(this.findings, more, count, this.most) };
  }

  private note(finding: ValidationFinding): void {
    this.count++;
    if (this.findings.length < this.most) this.findings.push(finding);
  }
}

/** Returns the first findings. If there are more, adds a finding from `more` with the number of the others. */
export function shortened<F>(
  findings: readonly F[],
  more: (count: number) => F,
  count = findings.length,
  most = LISTED,
): F[] {
  const left = count - most;
  return left > 0 ? [...findings.slice(0, most), more(left)] : [...findings];
}

/** Tells whether a value is null, blank text, an empty list or an empty object. */
function isEmpty(value: Json): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
