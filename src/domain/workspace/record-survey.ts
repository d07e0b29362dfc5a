import { heldBytes } from '../shared/text.js';
import type { DatasetRecord } from './dataset-record.js';
import { canonical, type Json } from './json.js';

/** The records with one input. */
interface SameInput {
  readonly ids: string[];
  /** Stands for the expected value of the first record. */
  readonly expected: string;
  agree: boolean;
}

/** Collects what a review says about the records of a dataset, one part of the records after another. */
export class RecordSurvey {
  count = 0;
  /** The memory of what was collected, about. */
  bytes = 0;
  /** The number of records for each group. */
  readonly groups = new Map<string, number>();
  /** Records that expect something without a number. */
  readonly withoutNumber: { count: number; first: string | null } = { count: 0, first: null };
  private readonly byInput = new Map<string, SameInput>();

  /** `short` returns a short text that stands for a long one. */
  constructor(private readonly short: (text: string) => string = (text) => text) {}

  add(records: readonly DatasetRecord[]): void {
    for (const { id, group, input, expected } of records) {
      this.count++;
      if (group !== null) this.groups.set(group, (this.groups.get(group) ?? 0) + 1);
      if (!holdsNumber(expected)) {
        this.withoutNumber.count++;
        this.withoutNumber.first ??= id;
      }
      const own = this.short(canonical(expected));
      const key = this.short(canonical(input));
      const same = this.byInput.get(key);
      this.bytes += heldBytes(id) + (same ? 0 : heldBytes(key) + heldBytes(own)) + heldBytes(group ?? '');
      if (same) {
        same.ids.push(id);
        same.agree &&= same.expected === own;
      } else this.byInput.set(key, { ids: [id], expected: own, agree: true });
    }
  }

  /** Returns ids of records with the same input and different answers. */
  get contradictions(): readonly (readonly string[])[] {
    return this.repeated(false);
  }

  /** Returns ids of records with the same input and the same answer. */
  get repetitions(): readonly (readonly string[])[] {
    return this.repeated(true);
  }

  private repeated(agreeing: boolean): string[][] {
    const repeated = [...this.byInput.values()].filter(({ ids, agree }) => ids.length > 1 && agree === agreeing);
    return repeated.map(({ ids }) => ids);
  }
}

const holdsNumber = (expected: Json): boolean =>
  typeof expected === 'number' || (typeof expected === 'string' && /\d/.test(expected));
