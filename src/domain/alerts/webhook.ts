import { type Finding, InvalidRequest } from '../shared/errors.js';

/** A program's address to which alerts are posted. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  /** The id of an account, or `MASTER`. */
  readonly createdBy: string;
  readonly createdAt: Date;
  /** False from the moment on at which its receiver has said that it is gone for good. */
  readonly enabled: boolean;
  /** How the last attempt to deliver an alert to it ended. */
  readonly lastDelivery: Delivery | null;
}

export interface Delivery {
  readonly at: Date;
  readonly alertId: string;
  /** The HTTP status of the answer; null where there was none. */
  readonly status: number | null;
  /** Why the alert is not delivered; null where it is. */
  readonly error: string | null;
}

/** The length is in characters. */
export const webhookLimits = { webhooks: 10, url: 2_000 } as const;

const GONE = 410;
const REST_MS = 30_000;

export const Webhook = {
  /** Throws InvalidRequest. */
  create({ url, ...input }: Pick<Webhook, 'id' | 'url' | 'createdBy' | 'createdAt'>): Webhook {
    const wrong = problem(url);
    if (wrong) throw new InvalidRequest([wrong]);
    return { ...input, url: new URL(url).href, enabled: true, lastDelivery: null };
  },

  /** What of its address may be told to whoever only reads: a path or a query can be as good as a password. */
  origin: ({ url }: Pick<Webhook, 'url'>): string => (URL.canParse(url) ? new URL(url).origin : ''),

  /** For whoever is told of it without seeing it all. */
  named: (webhook: Webhook) => ({ id: webhook.id, name: Webhook.origin(webhook) }),

  isGone: ({ status }: Delivery): boolean => status === GONE,

  /** A receiver that has not even answered is left alone for a while, so that those that do are not kept waiting. */
  isLeftAlone: ({ lastDelivery: last }: Webhook, now: Date): boolean =>
    last !== null && last.error !== null && last.status === null && now.getTime() - last.at.getTime() < REST_MS,
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
