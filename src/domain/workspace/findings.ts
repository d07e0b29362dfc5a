/** As many as anybody reads. */
const MOST = 100;

/** At most 100 of the findings, and then one more that says how many were left out. */
export function shortened<F>(findings: readonly F[], more: (count: number) => F): F[] {
  const left = findings.length - MOST;
  return left > 0 ? [...findings.slice(0, MOST), more(left)] : [...findings];
}
