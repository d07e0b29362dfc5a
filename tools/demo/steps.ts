/** An answer that is not as expected. */
export class Deviation extends Error {
  constructor(expected: unknown, actual: unknown) {
    super(`expected: ${shown(expected)}\ncame:     ${shown(actual)}`);
  }
}

/** Throws Deviation if `actual` lacks a field or a value of `expected`. A regular expression matches a text. */
export function expect(actual: unknown, expected: unknown): void {
  if (!matches(actual, expected)) throw new Deviation(expected, actual);
}

function matches(actual: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return typeof actual === 'string' && expected.test(actual);
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected);
  if (typeof actual !== 'object' || actual === null) return false;
  return Object.entries(expected).every(([key, value]) => matches((actual as Record<string, unknown>)[key], value));
}

let steps = 0;

/** Runs one step and prints its line: its name, the summary that `act` returns, and the milliseconds. */
export async function step(name: string, act: () => Promise<string>): Promise<void> {
  const number = String(++steps).padStart(2);
  const begun = performance.now();
  const line = (outcome: string) => {
    const ms = Math.round(performance.now() - begun);
    return `${number}  ${name.padEnd(44)} ${outcome.padEnd(92)} ${String(ms).padStart(6)} ms`;
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
