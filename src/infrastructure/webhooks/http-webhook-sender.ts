import { randomBytes } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { WebhookMessage, WebhookSender } from '../../application/alerts/ports.js';
import type { Tracer } from '../../application/shared/ports.js';
import type { Delivery } from '../../domain/alerts/webhook.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { NoTracer } from '../system/adapters.js';
import { resultWithin } from '../system/scheduling.js';

const SECRET_BYTES = 32;
const TIMEOUT_MS = 10_000;

/** The most bytes of an answer that are read. They are dropped, but the receiver can finish its answer. */
const MOST_BYTES = 64 * 1024;

type Outcome = Pick<Delivery, 'status' | 'error'>;

/** Posts each message on a new connection, with the HTTP client of Node.js. Uses no proxy and follows no redirects. */
export class HttpWebhookSender implements WebhookSender {
  constructor(
    private readonly guard: AddressGuard,
    private readonly timeoutMs = TIMEOUT_MS,
    private readonly tracer: Tracer = new NoTracer(),
  ) {}

  newSecret(): string {
    return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
  }

  async check(url: string): Promise<void> {
    const target = new URL(url);
    try {
      const check = this.guard.check(target).then(() => true);
      if (!(await resultWithin(check, this.timeoutMs))) throw new Error('the check took too long');
    } catch (error) {
      throw new InvalidRequest([{ path: 'url', message: refusalOf(error, target) }]);
    }
  }

  async post(message: WebhookMessage, signal?: AbortSignal): Promise<Outcome> {
    const timeout = AbortSignal.timeout(this.timeoutMs);
    const anySignal = signal ? AbortSignal.any([timeout, signal]) : timeout;
    const url = new URL(message.url);
    try {
      this.guard.checkAddress(url);
      signal?.throwIfAborted();
      const attributes = { 'http.request.method': 'POST', 'server.address': url.hostname };
      const status = await this.tracer.trace('POST', { kind: 'client', attributes }, async (span) => {
        const status = await this.send(url, message, anySignal);
        span.set({ 'http.response.status_code': status });
        return status;
      });
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
      ...this.tracer.headers(),
      'webhook-id': id,
      'webhook-timestamp': Math.floor(sentAt.getTime() / 1_000),
      'webhook-signature': new StandardWebhook(secret).sign(id, sentAt, body),
    };
    return new Promise<number>((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, agent, lookup: this.guard.lookup(url), signal });
      let status: number | undefined;
      // If the status is known, the message has arrived, even if the rest of the answer is cut off.
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

/** IPv4 ranges without hosts of the public internet (RFC 6890, RFC 5771), and Azure's metadata service. */
const NOT_PUBLIC_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The public part of IPv6. It excludes the forms that carry an IPv4 address (mapped, NAT64). */
const PUBLIC_6 = ['2000::/3'];

/** Parts of PUBLIC_6 that are not public: 6to4, Teredo, documentation and protocols. */
const NOT_PUBLIC_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const [notPublic4, public6, notPublic6] = [NOT_PUBLIC_4, PUBLIC_6, NOT_PUBLIC_6].map(listOf) as [
  BlockList,
  BlockList,
  BlockList,
];

export type Resolver = (
  hostname: string,
  options: { all: true },
  answer: (error: NodeJS.ErrnoException | null, addresses?: { address: string; family: number }[]) => void,
) => void;

/** The host is, or resolves to, a forbidden address. */
export class AddressRefused extends Error {}

/**
 * Permits public addresses with https, and addresses of the allowed networks also with http. It checks the addresses
 * that the connection then uses, so a name cannot resolve to another address after the check.
 */
export class AddressGuard {
  private readonly allowed: BlockList;

  /** `networks` are addresses or networks such as `10.0.0.0/8`. */
  constructor(
    networks: readonly string[],
    private readonly resolve: Resolver = systemLookup,
  ) {
    this.allowed = listOf(networks);
  }

  /** Throws AddressRefused, or the reason why the name cannot be resolved. */
  async check(url: URL): Promise<void> {
    this.checkAddress(url);
    await new Promise<void>((resolve, reject) => {
      this.lookup(url)(hostOf(url), { all: true }, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Throws AddressRefused if the host is itself a forbidden address. Sockets call `lookup` only for names. */
  checkAddress(url: URL): void {
    const host = hostOf(url);
    if (isIP(host) && !this.permits(host, url)) throw new AddressRefused();
  }

  /** Returns the lookup of the sockets of one request. It fails with AddressRefused for a forbidden address. */
  lookup(url: URL): LookupFunction {
    return (hostname, { all }, answer) => {
      this.resolve(hostname, { all: true }, (error, addresses = []) => {
        const [first] = addresses;
        const refused = addresses.some(({ address }) => !this.permits(address, url));
        if (error) answer(error, '');
        else if (refused || !first) answer(new AddressRefused(), '');
        else if (all) answer(null, addresses);
        else answer(null, first.address, first.family);
      });
    };
  }

  private permits(address: string, { protocol }: URL): boolean {
    const family = isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (this.allowed.check(address, type)) return true;
    if (protocol !== 'https:') return false;
    return family === 4
      ? !notPublic4.check(address, type)
      : public6.check(address, type) && !notPublic6.check(address, type);
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, Number(bits ?? (type === 'ipv6' ? 128 : 32)), type);
  }
  return list;
}
