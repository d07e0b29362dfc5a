import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository, MasterKey, SecretTokens, type TokenKind } from './ports.js';

const MINUTE_MS = 60_000;

/** A session token or an API key as the database knows it. */
interface StoredCredential {
  readonly kind: Extract<TokenKind, 'session' | 'api_key'>;
  readonly digest: string;
}

/** A credential that a request presents. A stored one may have been revoked. */
export type PresentedCredential = { readonly kind: 'master' } | StoredCredential;

/** Returns whether `identify` needs the database for the credential. */
export const isStored = (credential: PresentedCredential | null): credential is StoredCredential =>
  credential !== null && credential.kind !== 'master';

/** Finds the caller behind a credential. */
@injectable()
export class Authenticator {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: SecretTokens,
    private readonly masterKey: MasterKey,
    private readonly clock: Clock,
  ) {}

  /** Returns the credential that a Bearer text presents, or null for a text that cannot be one. Asks no database. */
  read(text: string | null): PresentedCredential | null {
    if (!text) return null;
    if (this.masterKey.matches(text)) return { kind: 'master' };
    const known = this.tokens.read(text);
    return known?.kind === 'session' || known?.kind === 'api_key' ? { kind: known.kind, digest: known.digest } : null;
  }

  /** Returns the caller behind a credential, or null if the credential is missing or not valid. */
  async identify(credential: PresentedCredential | null): Promise<Caller | null> {
    if (!isStored(credential)) return credential;
    const now = this.clock.now();
    const holder = await this.credentials.holder(credential.digest, now);
    if (holder?.kind !== credential.kind) return null;
    const { lastUsedAt } = holder;
    const isStale = !lastUsedAt || now.getTime() - lastUsedAt.getTime() >= MINUTE_MS;
    if (isStale) await this.credentials.touch(holder.credentialId, now);
    return holder;
  }
}
