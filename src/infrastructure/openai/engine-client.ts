import type { Client, Dispatcher } from 'undici';
import type { Clock } from '../../application/shared/ports.js';
import type { EndSignal } from '../runtimes/call-end.js';

/** No answer to a chat comes near this. */
const MOST_BYTES = 4 * 1024 * 1024;

/** An idle connection is closed before the usual engine would do so, which might be just when it is used again. */
const IDLE_MS = 4_000;

/** A connection that the engine had closed already says so at once. */
const STALE_MS = 1_000;

export interface EngineAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** There is no connection to the engine, or none any more. The message says why, and names no address. */
export class EngineGone extends Error {}

/** The engine answers with what is no HTTP, or is longer than an answer can be. */
export class UnreadableAnswer extends Error {}

interface Settings {
  readonly baseUrl: string;
  readonly key: string | null;
}

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string | null;
  readonly signal: EndSignal;
}

/**
 * HTTP to one engine, over connections that are kept. Redirects are not followed and no proxy is asked, so that nothing
 * but the address that was allowed is ever reached.
 */
export class EngineClient {
  private readonly origin: string;
  private readonly basePath: string;
  private readonly headers: Readonly<Record<string, string>>;
  /** Each is one connection, or none for now, and serves one exchange at a time. */
  private readonly all = new Set<Client>();
  /** The one that was used last is at the end, and used first. */
  private readonly idle: Client[] = [];

  constructor(
    { baseUrl, key }: Settings,
    private readonly clock: Clock,
  ) {
    const { origin, pathname } = new URL(baseUrl);
    this.origin = origin;
    this.basePath = pathname.replace(/\/$/, '');
    this.headers = { Accept: 'application/json', ...(key && { Authorization: `Bearer ${key}` }) };
  }

  get(path: string, signal: EndSignal): Promise<EngineAnswer> {
    return this.attempt({ method: 'GET', path, body: null, signal });
  }

  post(path: string, json: object, signal: EndSignal): Promise<EngineAnswer> {
    return this.attempt({ method: 'POST', path, body: JSON.stringify(json), signal });
  }

  /** Ends all connections. */
  close(): void {
    for (const client of this.all) this.drop(client);
    this.idle.length = 0;
  }

  /** Throws EngineGone, UnreadableAnswer, and the signal's reason. */
  private async attempt(asked: Asked): Promise<EngineAnswer> {
    const begun = this.clock.now().getTime();
    try {
      return await this.exchange(asked, this.idle.pop() ?? (await this.connection()));
    } catch (error) {
      const stale = error instanceof StaleConnection && this.clock.now().getTime() - begun < STALE_MS;
      if (!stale || asked.signal.aborted) throw error;
      return this.exchange(asked, await this.connection());
    }
  }

  private async connection(): Promise<Client> {
    const { Client } = await import('undici'); // takes a while, and not every service has an engine elsewhere
    const client = new Client(this.origin, {
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      maxResponseSize: MOST_BYTES,
      // Whoever asks says by the signal how long they wait.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.all.add(client);
    return client;
  }

  private exchange({ method, path, body, signal }: Asked, client: Client): Promise<EngineAnswer> {
    return new Promise((resolve, reject) => {
      const reused = client.stats.connected;
      const chunks: Buffer[] = [];
      let status = 0;
      let retryAfter: string | undefined;
      const fail = (error: unknown) => {
        signal.removeEventListener('abort', abort);
        reject(error);
        this.drop(client);
      };
      const abort = () => fail(signal.reason);
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, code, headers) => {
          status = code;
          retryAfter = [headers['retry-after']].flat()[0];
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          signal.removeEventListener('abort', abort);
          this.idle.push(client);
          resolve({ status, retryAfter, text: Buffer.concat(chunks).toString('utf8') });
        },
        onResponseError: (_controller, error) => fail(failureOf(error, { status, reused })),
      };
      if (signal.aborted) return abort(); // while the library was loaded
      signal.addEventListener('abort', abort);
      const headers = body === null ? this.headers : { ...this.headers, 'Content-Type': 'application/json' };
      client.dispatch({ method, path: `${this.basePath}${path}`, headers, body }, handler);
    });
  }

  /** With its connection, and with what is under way on it. */
  private drop(client: Client): void {
    this.all.delete(client);
    void client.destroy();
  }
}

/** The engine had closed the connection on which it was asked, and so it may not have been asked at all. */
class StaleConnection extends EngineGone {}

interface Moment {
  /** Of the answer that had begun; 0 where nothing of it had come. */
  readonly status: number;
  /** The connection had been there before. */
  readonly reused: boolean;
}

function failureOf(error: NodeJS.ErrnoException, { status, reused }: Moment): Error {
  const complaint = endsEarly(error, status) ? null : complaintOf(error);
  if (complaint !== null) return new UnreadableAnswer(complaint);
  if (status > 0) return new EngineGone('the engine broke off its answer');
  const { code = 'unknown cause' } = error;
  const words = wordsOf(code);
  return reused && CLOSED.includes(code) ? new StaleConnection(words) : new EngineGone(words);
}

const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
/** Answers with these have no body, whatever length their headers name. */
const WITHOUT_BODY = [204, 304];

/** A body that is cut off is no complaint about the answer, though the parser makes it one on a connection's last. */
const endsEarly = ({ code, message }: NodeJS.ErrnoException, status: number): boolean =>
  (code === LENGTH_MISMATCH && status >= 200 && !WITHOUT_BODY.includes(status)) ||
  message.includes('Invalid EOF state');

/** What is wrong with the answer itself; null where nothing is. */
function complaintOf({ name, code, message }: NodeJS.ErrnoException): string | null {
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'it is too long.';
  if (message === 'bad upgrade') return 'it wants to speak another protocol.';
  if (message === 'bad response') return 'it begins with a "100 Continue" that nobody asked for.';
  return name === 'HTTPParserError' || NO_HTTP.includes(code ?? '') ? 'it is no HTTP.' : null;
}

/** The parser takes impossible statuses for its own mistakes, and asserts that there are none. */
const NO_HTTP = [LENGTH_MISMATCH, 'UND_ERR_HEADERS_OVERFLOW', 'ERR_ASSERTION'];

const CLOSED = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

function wordsOf(code: string): string {
  if (CLOSED.includes(code)) return 'the engine closed the connection';
  switch (code) {
    case 'ECONNREFUSED':
      return 'the engine refuses connections';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host of the engine is unknown';
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'the host of the engine does not answer';
    default:
      return `the engine can't be reached (${code})`;
  }
}
