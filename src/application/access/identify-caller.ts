import type { Caller } from '../../domain/access/caller.js';
import type { Clock } from '../shared/ports/clock.js';
import type { SecretTokens } from '../shared/ports/secret-tokens.js';
import type { Credentials } from './ports/credentials.js';
import type { MasterKey } from './ports/master-key.js';

const MINUTE_MS = 60_000;

/** Tells who calls from the Bearer credential; null when it is missing, malformed, unknown, expired or revoked. */
export class IdentifyCaller {
  constructor(
    private readonly credentials: Credentials,
    private readonly tokens: SecretTokens,
    private readonly masterKey: MasterKey,
    private readonly clock: Clock,
  ) {}

  async execute(credential: string | null): Promise<Caller | null> {
    if (!credential) return null;
    if (this.masterKey.matches(credential)) return { kind: 'master' };
    const known = this.tokens.read(credential);
    if (known?.kind !== 'session' && known?.kind !== 'api_key') return null;
    const now = this.clock.now();
    const holder = await this.credentials.holder(known.digest, now);
    if (holder?.kind !== known.kind) return null;
    const noted = holder.lastUsedAt;
    if (!noted || now.getTime() - noted.getTime() >= MINUTE_MS) await this.credentials.touch(holder.credentialId, now);
    return holder;
  }
}
