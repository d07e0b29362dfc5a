import { StaleVersion } from '../shared/errors.js';
import { KeyRestrictions } from './key-restrictions.js';

/** A session or an API key. Only the digest of its secret is stored. */
export interface Credential extends KeyRestrictions {
  readonly id: string;
  readonly kind: 'session' | 'api_key';
  readonly accountId: string;
  readonly digest: string;
  /** The beginning and the end of an API key. The owner recognizes the key by this text. Empty for a session. */
  readonly hint: string;
  readonly name: string | null;
  /** A registration or a login creates a session and an API key. `POST /v1/keys` creates a `minted` key. */
  readonly origin: 'registration' | 'login' | 'minted';
  readonly createdAt: Date;
  /** The time at which the credential expires. Null: it does not. */
  readonly expiresAt: Date | null;
  /** At most one use in a minute is stored. */
  readonly lastUsedAt: Date | null;
  /** The network address of the sign-in. Null for an API key, and for sessions of earlier versions. */
  readonly address: string | null;
  /** The `User-Agent` of the sign-in, at most 256 characters. Null if it was not sent, and for an API key. */
  readonly userAgent: string | null;
  /** Grows by one with each change of a key. */
  readonly version: number;
}

/** The program that signs in. */
export type Client = Pick<Credential, 'address' | 'userAgent'>;

const LONGEST_USER_AGENT = 256;
const SESSION_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

type Draft = Pick<Credential, 'id' | 'accountId' | 'digest' | 'origin' | 'createdAt'>;
type KeyDraft = Draft & Pick<Credential, 'hint'> & Partial<Pick<Credential, 'name' | 'expiresAt'> & KeyRestrictions>;

/** An absent field stays as it is. */
export type KeyChange = Partial<Pick<Credential, 'name'> & KeyRestrictions>;

export const Credential = {
  session: ({ userAgent, ...draft }: Draft & Client): Credential => ({
    ...KeyRestrictions.NONE,
    ...draft,
    userAgent: userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
    kind: 'session',
    name: null,
    hint: '',
    expiresAt: new Date(draft.createdAt.getTime() + SESSION_LIFETIME_MS),
    lastUsedAt: null,
    version: 1,
  }),

  /** Throws InvalidRequest if the restrictions are not valid. */
  apiKey: (draft: KeyDraft): Credential => ({
    name: null,
    expiresAt: null,
    ...draft,
    ...KeyRestrictions.checked(KeyRestrictions.of({ ...KeyRestrictions.NONE, ...draft })),
    kind: 'api_key',
    lastUsedAt: null,
    address: null,
    userAgent: null,
    version: 1,
  }),

  /** Throws StaleVersion, InvalidRequest. */
  changed(key: Credential, expected: readonly number[], change: KeyChange): Credential {
    if (expected.some((version) => version !== key.version)) throw new StaleVersion(key.version);
    const next = { ...key, ...change };
    return { ...next, ...KeyRestrictions.checked(KeyRestrictions.of(next)), version: key.version + 1 };
  },
};
