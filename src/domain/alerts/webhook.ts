import { type Finding, InvalidRequest } from '../shared/errors.js';

/** The URL of a program that receives alerts. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  /** The id of an account, or `MASTER`. */
  readonly createdBy: string;
  readonly createdAt: Date;
  /** Becomes false when the receiver answers 410, and then stays false. */
  readonly enabled: boolean;
  /** The outcomes of the last attempts, newest first. */
  readonly deliveries: readonly Delivery[];
}

export interface Delivery {
  readonly at: Date;
  readonly alertId: string;
  /** The HTTP status of the answer. Null without an answer. */
  readonly status: number | null;
  /** The reason of a failure. Null after a success. */
  readonly error: string | null;
}

/** `url` is a length in characters. `deliveries` is the number that is kept of each webhook. */
export const webhookLimits = { webhooks: 10, url: 2_000, deliveries: 20 } as const;

const GONE = 410;
const PAUSE_MS = 30_000;

export const Webhook = {
  /** Throws InvalidRequest. */
  create({ url, ...input }: Pick<Webhook, 'id' | 'url' | 'createdBy' | 'createdAt'>): Webhook {
    const wrong = problem(url);
    if (wrong) throw new InvalidRequest([wrong]);
    return { ...input, url: new URL(url).href, enabled: true, deliveries: [] };
  },

  /** Returns the origin of the URL. Callers see only the origin, because the path or the query can contain a secret. */
  origin: ({ url }: Pick<Webhook, 'url'>): string => (URL.canParse(url) ? new URL(url).origin : ''),

  /** Returns the id and the name for the audit trail. */
  named: (webhook: Webhook) => ({ id: webhook.id, name: Webhook.origin(webhook) }),

  isGone: ({ status }: Delivery): boolean => status === GONE,

  /** Tells whether deliveries pause: for 30 s after an attempt without an answer, to delay no other webhook. */
  isPaused: ({ deliveries: [last] }: Webhook, now: Date): boolean =>
    last !== undefined && last.error !== null && last.status === null && now.getTime() - last.at.getTime() < PAUSE_MS,
};

function problem(url: string): Finding | null {
  const finding = (message: string) => ({ path: 'url', message });
  if (url.length > webhookLimits.url) return finding(`must have at most ${webhookLimits.url} characters`);
  const { protocol, username, password, hash } = URL.canParse(url) ? new URL(url) : NOT_A_URL;
  if (protocol !== 'https:' && protocol !== 'http:') return finding('must be an https:// URL');
  if (username || password) return finding('must not contain a user name or a password');
  return hash ? finding('must not contain a fragment') : null;
}

const NOT_A_URL = { protocol: '', username: '', password: '', hash: '' };
