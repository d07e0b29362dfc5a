/**
 * How long a test waits for what must come: much longer than it takes, since other work on the machine is no fault of the
 * service. Shorter than the time of a whole test, so that the message tells what did not come.
 */
export const PATIENCE_MS = 60_000;

const LONGEST_PAUSE_MS = 250;

/**
 * Resolves once it holds; `what` is for the message where it never does. Looks every so often at first, and less the
 * longer it takes: each look is work for who is waited for.
 */
export async function until(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  everyMs = 20,
): Promise<void> {
  for (const began = Date.now(); !(await holds()); ) {
    const waited = Date.now() - began;
    if (waited > PATIENCE_MS) throw new Error(`it never came to this: ${typeof what === 'string' ? what : what()}`);
    const pause = Math.max(everyMs, Math.min(waited / 10, LONGEST_PAUSE_MS));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * Whether `work` settles before a timer of `ms`, set at the same moment, goes off. The work's own timers and this one go
 * off in their order, however late this process is given a processor: no clock tells that so surely.
 */
export async function within(ms: number, work: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const done = work().then(
    () => true,
    () => true,
  );
  const inTime = await Promise.race([done, late]);
  clearTimeout(timer);
  return inTime;
}
