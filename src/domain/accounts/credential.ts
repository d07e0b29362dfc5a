/** A session or an API key. Only the digest of its secret is stored. */
export interface Credential {
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
  /** Null: the credential does not expire. */
  readonly expiresAt: Date | null;
  /** At most one use in a minute is stored. */
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
