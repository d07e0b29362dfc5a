import { randomBytes } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { WebhookMessage, WebhookSender } from '../../application/alerts/ports.js';
import { WebhookRefused } from '../../domain/alerts/errors.js';
import type { Delivery } from '../../domain/alerts/webhook.js';
import { type AddressGuard, AddressRefused } from './address-guard.js';

const SECRET_BYTES = 32;
const TIMEOUT_MS = 10_000;

/** Bytes of an answer that are read and dropped, so that a receiver can finish it. */
const MOST_BYTES = 64 * 1024;

type Outcome = Pick<Delivery, 'status' | 'error'>;

/** Posts by Node's own client on a new connection for each message, without a proxy and without following redirects. */
export class HttpWebhookSender implements WebhookSender {
  constructor(
    private readonly guard: AddressGuard,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  newSecret(): string {
    return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  }

  async check(url: string): Promise<void> {
    const target = new URL(url);
    try {
      await inTime(this.guard.check(target), this.timeoutMs);
    } catch (error) {
      throw new WebhookRefused(refusalOf(error, target));
    }
  }

  async post(message: WebhookMessage, signal?: AbortSignal): Promise<Outcome> {
    const timeout = AbortSignal.timeout(this.timeoutMs);
    const either = signal ? AbortSignal.any([timeout, signal]) : timeout;
    const url = new URL(message.url);
    try {
      this.guard.checkAddress(url);
      signal?.throwIfAborted();
      const status = await this.send(url, message, either);
      const done = status >= 200 && status < 300;
      return { status, error: done ? null : `answered with status ${status}` };
    } catch (error) {
      signal?.throwIfAborted();
      return {
        status: null,
        error: timeout.aborted ? `no answer within ${this.timeoutMs / 1_000} s` : describe(error),
      };
    }
  }

  /** Resolves with the status when the answer has ended, or has reached its limit. */
  private send(url: URL, { secret, id, body, sentAt }: WebhookMessage, signal: AbortSignal): Promise<number> {
    const secure = url.protocol === 'https:';
    const [request, agent] = secure ? [httpsRequest, new HttpsAgent()] : [httpRequest, new HttpAgent()];
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': 'Tenon',
      'webhook-id': id,
      'webhook-timestamp': Math.floor(sentAt.getTime() / 1_000),
      'webhook-signature': new StandardWebhook(secret).sign(id, sentAt, body),
    };
    return new Promise<number>((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, agent, lookup: this.guard.lookup(url), signal });
      let status: number | undefined;
      // Once the status is known the message has arrived, even if the rest of the answer is cut off.
      const end = (error?: unknown) => (status === undefined ? reject(error) : resolve(status));
      sent.on('response', (response) => {
        status = response.statusCode;
        void ended(response).then(end);
      });
      sent.on('upgrade', (_response, socket) => socket.destroy());
      sent.on('error', end);
      sent.on('close', () => end(new Error('closed')));
      sent.end(body);
    }).finally(() => agent.destroy());
  }
}

function ended(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) response.destroy();
    });
    response.on('error', () => undefined);
    response.on('close', resolve);
  });
}

/** Rejects after the timeout. The work itself cannot be aborted. */
async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('late')), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

const NOT_ALLOWED = 'leads to an address that is not on the public internet, nor in SERVICE_WEBHOOK_ALLOW_NETWORKS';

function refusalOf(error: unknown, { protocol }: URL): string {
  if (!(error instanceof AddressRefused)) return 'must name a host that can be resolved';
  return protocol === 'https:' ? NOT_ALLOWED : 'must be an https:// URL, or lead into SERVICE_WEBHOOK_ALLOW_NETWORKS';
}

/** Describes the failure without any address. */
function describe(error: unknown): string {
  if (error instanceof AddressRefused) return 'the host leads to an address that is not allowed';
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ECONNREFUSED':
      return 'the receiver refuses connections';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host cannot be resolved';
    case undefined:
    case 'ECONNRESET':
      return 'the receiver closed the connection';
    default:
      return `the receiver cannot be reached (${code})`;
  }
}
