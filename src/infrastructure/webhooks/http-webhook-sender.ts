import { randomBytes } from 'node:crypto';
import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import type { WebhookMessage, WebhookSender } from '../../application/alerts/ports.js';
import type { Tracer } from '../../application/shared/ports.js';
import type { Delivery } from '../../domain/alerts/webhook.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { ConnectionFailed, HttpClient, InvalidAnswer, textOf } from '../http-client/http-client.js';
import { NoTracer } from '../system/adapters.js';
import { resultWithin } from '../system/scheduling.js';

const SECRET_BYTES = 32;
const TIMEOUT_MS = 10_000;

/** The most bytes of an answer that are read. They are dropped, but the receiver can finish its answer. */
const MOST_BYTES = 64 * 1024;

type Outcome = Pick<Delivery, 'status' | 'error'>;

/** Posts each message on a new connection. Uses no proxy and follows no redirects. */
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
  private async send(url: URL, { secret, id, body, sentAt }: WebhookMessage, signal: AbortSignal): Promise<number> {
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Tenon',
      ...this.tracer.headers(),
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': new StandardWebhook(secret).sign(id, sentAt, body),
    };
    const path = `${url.pathname}${url.search}`;
    // Without the tracer, because the path of a webhook can be secret.
    const client = new HttpClient(url.origin, headers, undefined, this.guard.lookup(url));
    try {
      const answer = await client.stream({ method: 'POST', path, body, signal });
      await textOf(answer, MOST_BYTES).catch(() => null); // the message has arrived, even if the rest is cut off
      return answer.status;
    } finally {
      client.close();
    }
  }
}

/** Says what a user can do, and names the setting for whoever runs the service. */
const ALLOWED_BY = 'whoever runs the service must allow its network (SERVICE_WEBHOOK_ALLOW_NETWORKS)';
const NOT_ENCRYPTED = `must be an https:// URL, or ${ALLOWED_BY}`;
const NOT_ALLOWED = `leads to an address that is not on the public internet: ${ALLOWED_BY}`;

function refusalOf(error: unknown, { protocol }: URL): string {
  if (!(error instanceof AddressRefused)) return 'must name a host that can be resolved';
  return protocol === 'https:' ? NOT_ALLOWED : NOT_ENCRYPTED;
}

/** Describes the failure without any address. */
function describe(error: unknown): string {
  const { cause } = error as { cause?: NodeJS.ErrnoException };
  if (error instanceof AddressRefused || cause instanceof AddressRefused)
    return 'the host leads to an address that is not allowed';
  if (error instanceof ConnectionFailed && error.closed) return 'the receiver closed the connection';
  if (error instanceof InvalidAnswer) return 'the receiver does not speak HTTP';
  switch (cause?.code) {
    case 'ECONNREFUSED':
      return 'the receiver refuses connections';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host cannot be resolved';
    default:
      return `the receiver cannot be reached (${cause?.code ?? 'unknown cause'})`;
  }
}

/** A network: its address and the number of bits that its addresses share. */
type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

const networkOf = (text: string): Network => {
  const address = text.includes('/') ? null : ipaddr.parse(text);
  return address ? [address, address.toByteArray().length * 8] : ipaddr.parseCIDR(text);
};

const isIn = (networks: Network[], address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  ipaddr.subnetMatch(address, { networks }) === 'networks';

/** Not public, although ipaddr.js knows no special use: Azure's metadata service, and IPv6 outside of 2000::/3. */
const NOT_PUBLIC = ['168.63.129.16', '::/3', '4000::/2', '8000::/1'].map(networkOf);

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
  private readonly allowed: Network[];

  /** `networks` are addresses or networks such as `10.0.0.0/8`. */
  constructor(
    networks: readonly string[],
    private readonly resolve: Resolver = systemLookup,
  ) {
    this.allowed = networks.map(networkOf);
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

  private permits(withZone: string, { protocol }: URL): boolean {
    const text = withZone.replace(/%.*$/, '');
    if (isIP(text) === 0) return false;
    if (isIn(this.allowed, ipaddr.process(text))) return true; // in either form of an IPv4 address
    const address = ipaddr.parse(text);
    return protocol === 'https:' && address.range() === 'unicast' && !isIn(NOT_PUBLIC, address);
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');
