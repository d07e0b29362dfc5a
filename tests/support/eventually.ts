import { PATIENCE_MS } from './until.js';

const PAUSE_MS = 10;

/** Resolves once it holds; long before the test's own time is over it throws. */
export async function eventually(holds: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
  for (const until = Date.now() + patienceMs; !(await holds()); ) {
    if (Date.now() > until) throw new Error(`it never came to hold: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
