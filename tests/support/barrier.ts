const PATIENCE_MS = 20_000;

/**
 * Holds calls until `parties` of them have come, so that all of them read before any of them writes. A later call, such
 * as a unit of work that runs again, does not wait. Rejects if not all calls come in time.
 */
export function barrier(parties: number): () => Promise<void> {
  let arrived = 0;
  let open = () => {};
  let fail = (_: Error) => {};
  const all = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  all.catch(() => undefined);
  const watchdog = setTimeout(() => fail(new Error(`only ${arrived} of ${parties} have come`)), PATIENCE_MS);
  return () => {
    arrived += 1;
    if (arrived === parties) {
      clearTimeout(watchdog);
      open();
    }
    return all;
  };
}

/** Runs `act` for all parties at once and returns their results. */
export const atOnce = <T>(parties: number, act: (party: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: parties }, (_, party) => act(party)));

/** Lets all parties read before any of them acts. `within` runs both steps of a party. Returns the results of `act`. */
export function race<Read, T>(
  parties: number,
  read: (party: number) => Promise<Read>,
  act: (read: Read, party: number) => Promise<T>,
  within = (steps: () => Promise<T>, _party: number) => steps(),
): Promise<T[]> {
  const allHaveRead = barrier(parties);
  return atOnce(parties, (party) =>
    within(async () => {
      const found = await read(party);
      await allHaveRead();
      return act(found, party);
    }, party),
  );
}

/** Returns a promise and the function that resolves it. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
