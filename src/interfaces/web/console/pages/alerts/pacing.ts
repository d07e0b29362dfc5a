/** Sends many calls one after the other, within the rate limit of the service. */

export interface Quota {
  /** The number of calls that the limit still allows. */
  readonly remaining: number;
  /** The number of calls that the limit allows in a minute. */
  readonly limit: number;
  /** Seconds until the limit allows more calls. */
  readonly seconds: number;
}

export interface PacingState {
  readonly done: number;
  readonly all: number;
  /** Seconds that the next call waits for the rate limit, or null if it does not wait. */
  readonly waits: number | null;
}

/** The error of a call that the rate limit refused. `retryAfter` is in seconds. */
interface Limited {
  readonly status: number;
  readonly retryAfter: number | null;
}

const USUAL_WAIT_S = 5;
/** The share of the limit that is kept for other calls. */
const LEFT = 0.25;

const isLimited = (reason: unknown): reason is Limited =>
  typeof reason === 'object' && reason !== null && (reason as Partial<Limited>).status === 429;

/** Returns the quota from the headers of an answer. */
export function quotaOf(headers: { get(name: string): string | null }): Quota {
  const seconds = Number(/;t=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1] ?? 0);
  const number = (name: string) => Number(headers.get(`x-ratelimit-${name}-requests`) ?? Number.POSITIVE_INFINITY);
  return { remaining: number('remaining'), limit: number('limit'), seconds };
}

/**
 * Calls `act` for each item, one after the other. Waits when little of the rate limit is left. Repeats a call that the
 * rate limit refused. Stops before the next item when `stopped` returns true. Throws other errors of `act`.
 */
export async function oneByOne<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<Quota>,
  {
    tell,
    wait,
    stopped,
  }: { tell: (state: PacingState) => void; wait: (seconds: number) => Promise<void>; stopped: () => boolean },
): Promise<void> {
  const all = items.length;
  const pause = async (done: number, seconds: number) => {
    tell({ done, all, waits: seconds });
    await wait(seconds);
  };
  let done = 0;
  tell({ done, all, waits: null });
  while (done < all && !stopped()) {
    try {
      const { remaining, limit, seconds } = await act(items[done] as Item);
      done += 1;
      tell({ done, all, waits: null });
      if (done < all && remaining < limit * LEFT) await pause(done, Math.max(seconds, 1));
    } catch (reason) {
      if (!isLimited(reason)) throw reason;
      await pause(done, reason.retryAfter ?? USUAL_WAIT_S);
    }
  }
}
