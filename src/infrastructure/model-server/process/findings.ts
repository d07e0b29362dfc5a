import type { Finding } from '../../../domain/shared/errors.js';
import { Refusal } from './refusal.js';

/** As many as anybody reads. */
const MOST = 20;
const LONGEST = 64;

/** One thing that is wrong, at a place in what was sent. */
export class Wrong extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

/** All that is wrong with a request, each under its path. */
export class Findings {
  private readonly found: Finding[] = [];

  add(path: string, message: string): void {
    if (this.found.length < MOST) this.found.push({ path, message });
  }

  /** Undefined where something is wrong. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Wrong)) throw error;
      this.add(error.path, error.message);
      return undefined;
    }
  }

  /** Throws a Refusal where anything was found. */
  done(): void {
    if (this.found.length > 0) throw invalidRequest(this.found);
  }
}

export function invalidRequest(findings: readonly Finding[]): Refusal {
  const [first, ...others] = findings;
  const more = others.length ? ` (and ${others.length} more)` : '';
  return new Refusal('invalid_request', `${first?.path}: ${first?.message}${more}`, {}, findings);
}

/** Something of the caller's own, short enough to show. */
export const shown = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** What a JSON value is, for whoever expected something else. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'bigint') return 'a number';
  return typeof value === 'object' ? 'an object' : value === undefined ? 'missing' : `a ${typeof value}`;
}
