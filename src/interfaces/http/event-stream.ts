import { StreamedResponse } from './contract.js';
import type { Problem } from './refusals.js';

/** The longest silence of a stream. Proxies and clients may close a connection that is silent for longer. */
export const HEARTBEAT_MS = 15_000;

const COMMENT = ': keep-alive\n\n';

const BEAT = Symbol('beat');

interface EventStream {
  /** Yields texts of whole events. */
  readonly events: AsyncGenerator<string, void>;
  /** Returns further headers. Is called when the first event is there, or after `heartbeatMs` without one. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Closes the connection when this signal aborts. */
  readonly expired: AbortSignal;
  readonly heartbeatMs: number;
  /** Returns the last events after a failure. Default: an event with the error. */
  readonly failed?: (problem: Problem) => string;
}

/**
 * Answers server-sent events. Resolves when the first event is there, or after `heartbeatMs` without one. Throws an
 * earlier failure, so that it becomes an ordinary refusal. A later failure becomes the last event. Sends a comment when
 * no event came for `heartbeatMs`.
 */
export async function eventStream({
  events,
  headers,
  expired,
  heartbeatMs,
  failed = ({ body }) => `data: ${JSON.stringify(body)}\n\n`,
}: EventStream): Promise<StreamedResponse> {
  const first = events.next();
  const begun = await withinBeat(first, heartbeatMs);

  async function* chunks(): AsyncGenerator<string, void> {
    try {
      if (begun === BEAT) yield COMMENT;
      for (let next = first; ; ) {
        const event = await withinBeat(next, heartbeatMs);
        if (event === BEAT) yield COMMENT;
        else if (event.done) return;
        else {
          yield event.value;
          next = events.next();
        }
      }
    } finally {
      await events.return();
    }
  }
  const own = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no', ...headers() };
  return new StreamedResponse(200, own, chunks(), {
    expired,
    lastChunk: failed,
  });
}

/** Resolves to `BEAT` if `next` takes longer than `ms`. Otherwise settles as `next` does. */
function withinBeat<T>(next: Promise<T>, ms: number): Promise<T | typeof BEAT> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(BEAT), ms);
    next.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
