const PATIENCE_MS = 25_000;
const PAUSE_MS = 10;

/** Resolves once it holds; long before the test's own time is over it throws. */
export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; !(await holds()); ) {
    if (Date.now() > until) throw new Error(`it never came to hold: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
