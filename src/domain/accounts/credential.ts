/** A session or an API key. Only the digest of its secret is kept. */
export interface Credential {
  readonly id: string;
  readonly kind: 'session' | 'api_key';
  readonly accountId: string;
  readonly digest: string;
  /** Prefix and end of an API key, by which its owner recognizes it. Empty for a session. */
  readonly hint: string;
  readonly name: string | null;
  /** Registrations and logins make both kinds. Only `POST /v1/keys` makes `minted` keys. */
  readonly origin: 'registration' | 'login' | 'minted';
  readonly createdAt: Date;
  /** The credential does not expire if null. */
  readonly expiresAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

const SESSION_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;

type Draft = Pick<Credential, 'id' | 'accountId' | 'digest' | 'origin' | 'createdAt'>;
type KeyDraft = Draft & Pick<Credential, 'hint'> & Partial<Pick<Credential, 'name' | 'expiresAt'>>;

export const Credential = {
  session: (draft: Draft): Credential => ({
    ...draft,
    kind: 'session',
    name: null,
    hint: '',
    expiresAt: new Date(draft.createdAt.getTime() + SESSION_LIFETIME_MS),
    lastUsedAt: null,
  }),
  apiKey: (draft: KeyDraft): Credential => ({
    name: null,
    expiresAt: null,
    ...draft,
    kind: 'api_key',
    lastUsedAt: null,
  }),
};
