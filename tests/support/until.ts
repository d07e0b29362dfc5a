/**
 * Limits the wait of a test for an event. The limit is long, because the machine may be busy. It is shorter than that
 * of a whole test, so that the message names the event.
 */
export const PATIENCE_MS = 60_000;

const LONGEST_PAUSE_MS = 250;

/**
 * Waits until `holds` is true. The message of a failure contains `what`. Looks less and less often, because each look
 * is work for the service.
 */
export async function until(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  everyMs = 20,
): Promise<void> {
  for (const began = Date.now(); !(await holds()); ) {
    const waited = Date.now() - began;
    if (waited > PATIENCE_MS) throw new Error(`waited in vain until ${typeof what === 'string' ? what : what()}`);
    const pause = Math.max(everyMs, Math.min(waited / 10, LONGEST_PAUSE_MS));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/**
 * Checks whether `work` settles before a timer of `ms` that starts with it. A timer is safer than a clock: if the
 * machine is busy, the timers of `work` and this one still fire in their order.
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
