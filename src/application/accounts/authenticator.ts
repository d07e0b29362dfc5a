import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { Clock } from '../shared/ports.js';
import { CredentialRepository, MasterKey, SecretTokens } from './ports.js';

const MINUTE_MS = 60_000;

/** Finds the caller behind a credential. */
@injectable()
export class Authenticator {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly tokens: SecretTokens,
    private readonly masterKey: MasterKey,
    private readonly clock: Clock,
  ) {}

  /** Tells whether `identify` needs the database for the credential. */
  needsLookup(credential: string | null): boolean {
    return credential !== null && !this.masterKey.matches(credential) && this.read(credential) !== null;
  }

  /** Returns the caller behind a Bearer credential, or null if the credential is missing or not valid. */
  async identify(credential: string | null): Promise<Caller | null> {
    if (!credential) return null;
    if (this.masterKey.matches(credential)) return { kind: 'master' };
    const known = this.read(credential);
    if (!known) return null;
    const now = this.clock.now();
    const holder = await this.credentials.holder(known.digest, now);
    if (holder?.kind !== known.kind) return null;
    const { lastUsedAt } = holder;
    const isStale = !lastUsedAt || now.getTime() - lastUsedAt.getTime() >= MINUTE_MS;
    if (isStale) await this.credentials.touch(holder.credentialId, now);
    return holder;
  }

  /** Returns null for a text that cannot be a session token or an API key. */
  private read(credential: string) {
    const known = this.tokens.read(credential);
    return known?.kind === 'session' || known?.kind === 'api_key' ? known : null;
  }
}
