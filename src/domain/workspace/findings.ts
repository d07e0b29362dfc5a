import { atMost } from '../shared/text.js';

/** As many as anybody reads. */
const MOST = 100;

/** As much of it as it takes to recognise it by. */
const QUOTED = 100;

/** A piece of what the caller sent, cut: otherwise a hundred findings could be a hundred times as large as that. */
export const quoted = (text: string): string =>
  atMost(text, QUOTED) ? text : `${[...text.slice(0, 2 * QUOTED)].slice(0, QUOTED).join('')}…`;

/** At most 100 of the findings, and then one more that says how many were left out. */
export function shortened<F>(findings: readonly F[], more: (count: number) => F): F[] {
  const left = findings.length - MOST;
  return left > 0 ? [...findings.slice(0, MOST), more(left)] : [...findings];
}
