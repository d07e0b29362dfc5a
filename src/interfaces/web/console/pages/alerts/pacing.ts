/** Sends many calls one after the other, within the rate limit of the service. */

export interface Quota {
  /** Calls that the limit still allows, and what it allows in a minute. */
  readonly remaining: number;
  readonly limit: number;
  /** Seconds until more are allowed. */
  readonly seconds: number;
}

export interface Far {
  readonly done: number;
  readonly all: number;
  /** Seconds that the next call waits for the rate limit. Null: it does not wait. */
  readonly waits: number | null;
}

/** A call that is refused by the rate limit. `retryAfter` is in seconds. */
interface Limited {
  readonly status: number;
  readonly retryAfter: number | null;
}

const USUAL_WAIT_S = 5;
/** The share of the limit that is left for other calls. */
const LEFT = 0.25;

const isLimited = (reason: unknown): reason is Limited =>
  typeof reason === 'object' && reason !== null && (reason as Partial<Limited>).status === 429;

/** Returns the quota that an answer tells in its headers. */
export function quotaOf(headers: { get(name: string): string | null }): Quota {
  const seconds = Number(/;t=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1] ?? 0);
  const number = (name: string) => Number(headers.get(`x-ratelimit-${name}-requests`) ?? Number.POSITIVE_INFINITY);
  return { remaining: number('remaining'), limit: number('limit'), seconds };
}

/**
 * Calls `act` for each item, one after the other. Waits when little of the rate limit is left, and repeats a call that it
 * refuses. Stops before the next item once `stopped` says so. Throws what `act` throws otherwise.
 */
export async function oneByOne<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<Quota>,
  {
    tell,
    wait,
    stopped,
  }: { tell: (far: Far) => void; wait: (seconds: number) => Promise<void>; stopped: () => boolean },
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
