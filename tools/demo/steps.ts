/** An answer deviates from the interface. */
export class Deviation extends Error {
  constructor(expected: unknown, came: unknown) {
    super(`expected: ${shown(expected)}\ncame:     ${shown(came)}`);
  }
}

/** Throws Deviation if `came` lacks anything that `expected` has. A regular expression stands for the texts it matches. */
export function expect(came: unknown, expected: unknown): void {
  if (!matches(came, expected)) throw new Deviation(expected, came);
}

function matches(came: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof came === 'string' && expected.test(came);
  if (typeof expected !== 'object' || expected === null) return Object.is(came, expected);
  if (typeof came !== 'object' || came === null) return false;
  return Object.entries(expected).every(([key, value]) => matches((came as Record<string, unknown>)[key], value));
}

let steps = 0;

/** Runs one step and prints its line: its name, the summary that `act` returns, and the milliseconds. */
export async function step(what: string, act: () => Promise<string>): Promise<void> {
  const number = String(++steps).padStart(2);
  const begun = performance.now();
  const line = (came: string) => {
    const ms = Math.round(performance.now() - begun);
    return `${number}  ${what.padEnd(44)} ${came.padEnd(92)} ${String(ms).padStart(6)} ms`;
  };
  try {
    console.log(line(await act()));
  } catch (error) {
    console.log(line('FAILED'));
    throw error;
  }
}

/** Returns the value as JSON, with every secret cut to its first 8 characters. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, one) => (one instanceof RegExp ? String(one) : one)) ?? String(value);
  return text.replace(/\b(tn[a-z]_\w{4})\w+/g, '$1…');
}

/** Returns some fields of an answer (`user.role`) as `role="admin"`. */
export function fields(body: unknown, ...paths: string[]): string {
  const at = (path: string) =>
    path.split('.').reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
  return paths.map((path) => `${path.split('.').pop()}=${shown(at(path))}`).join(' ');
}
