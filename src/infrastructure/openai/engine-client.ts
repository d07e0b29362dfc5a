import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import type { Clock } from '../../application/shared/ports/clock.js';

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
  readonly sockets: number;
}

/**
 * HTTP to one engine, over connections that are kept. Redirects are not followed and no proxy is asked, so that nothing
 * but the address that was allowed is ever reached.
 */
export class EngineClient {
  private readonly agent: HttpAgent;
  private readonly send: typeof httpRequest;
  private readonly target: Pick<ReturnType<typeof urlToHttpOptions>, 'hostname' | 'port' | 'path'>;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    settings: Settings,
    private readonly clock: Clock,
  ) {
    const url = new URL(settings.baseUrl);
    const { hostname, port } = urlToHttpOptions(url);
    this.target = { hostname, port, path: url.pathname.replace(/\/$/, '') };
    const secure = url.protocol === 'https:';
    const options = { keepAlive: true, maxSockets: settings.sockets, timeout: IDLE_MS };
    this.agent = secure ? new HttpsAgent(options) : new HttpAgent(options);
    this.send = secure ? httpsRequest : httpRequest;
    this.headers = { Accept: 'application/json', ...(settings.key && { Authorization: `Bearer ${settings.key}` }) };
  }

  get(path: string, signal: AbortSignal): Promise<EngineAnswer> {
    return this.attempt('GET', path, null, signal);
  }

  post(path: string, json: object, signal: AbortSignal): Promise<EngineAnswer> {
    return this.attempt('POST', path, JSON.stringify(json), signal);
  }

  /** Ends all connections. */
  close(): void {
    this.agent.destroy();
  }

  /** Throws EngineGone, UnreadableAnswer, and the signal's reason. */
  private async attempt(method: string, path: string, body: string | null, signal: AbortSignal): Promise<EngineAnswer> {
    const begun = this.clock.now().getTime();
    try {
      return await this.exchange(method, path, body, signal);
    } catch (error) {
      const stale = error instanceof StaleConnection && this.clock.now().getTime() - begun < STALE_MS;
      if (!stale || signal.aborted) throw error;
      return this.exchange(method, path, body, signal);
    }
  }

  private exchange(method: string, path: string, body: string | null, signal: AbortSignal): Promise<EngineAnswer> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.headers,
        ...(body !== null && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      };
      const request = this.send({
        ...this.target,
        path: `${this.target.path}${path}`,
        method,
        headers,
        agent: this.agent,
      });
      const end = (settle: () => void) => {
        signal.removeEventListener('abort', abort);
        settle();
      };
      const fail = (error: unknown) => {
        request.destroy();
        end(() => reject(error));
      };
      const abort = () => fail(signal.reason);
      signal.addEventListener('abort', abort);
      request.on('error', (error: NodeJS.ErrnoException) => {
        fail(failureOf(error, request.reusedSocket));
      });
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        fail(new UnreadableAnswer('it wants to speak another protocol.'));
      });
      request.on('response', (response) => {
        read(response).then((answer) => end(() => resolve(answer)), fail);
      });
      request.end(body);
    });
  }
}

/** The engine had closed the connection on which it was asked, and so it may not have been asked at all. */
class StaleConnection extends EngineGone {}

function read(response: IncomingMessage): Promise<EngineAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) reject(new UnreadableAnswer('it is too long.'));
      else chunks.push(chunk);
    });
    response.on('end', () => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, retryAfter: headers['retry-after'], text: Buffer.concat(chunks).toString('utf8') });
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      if (!response.complete) reject(new EngineGone('the engine broke off its answer'));
    });
  });
}

function failureOf({ code }: NodeJS.ErrnoException, reused: boolean): Error {
  if (code?.startsWith('HPE_')) return new UnreadableAnswer('it is no HTTP.');
  const words = wordsOf(code ?? 'unknown cause');
  const closed = code === 'ECONNRESET' || code === 'EPIPE';
  return closed && reused ? new StaleConnection(words) : new EngineGone(words);
}

function wordsOf(code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'the engine refuses connections';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the engine closed the connection';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host of the engine is unknown';
    default:
      return `the engine can't be reached (${code})`;
  }
}
