import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Actor } from '../../domain/audit/audit-entry.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { AccountRepository, CredentialRepository } from './ports.js';

interface Input {
  readonly by: Actor;
  /** Null: of every account. */
  readonly email: string | null;
  /** Also all API keys. */
  readonly keys: boolean;
}

const AT_ONCE = 100;

/** Signs accounts out, in every process and at once. For whoever has the database in hand. */
@injectable()
export class RevokeSessions {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly credentials: CredentialRepository,
    private readonly audit: Audit,
  ) {}

  /** How many accounts it was. Throws NotFound. */
  async execute({ by, email, keys }: Input): Promise<number> {
    let count = 0;
    for await (const account of this.chosen(email)) {
      const details = { keys_revoked: keys };
      await this.audit.perform({ by, action: 'account.sessions_revoked', object: account, details }, async () => {
        await this.credentials.removeAll({ accountId: account.id, kind: 'session' });
        if (keys) await this.credentials.removeAll({ accountId: account.id, kind: 'api_key' });
      });
      count++;
    }
    return count;
  }

  private async *chosen(email: string | null): AsyncGenerator<Account> {
    if (email !== null) {
      const account = await this.accounts.byEmail(email);
      if (!account) throw new NotFound('account');
      yield account;
      return;
    }
    for (let after: string | null = null; ; ) {
      const some: Account[] = await this.accounts.all({ limit: AT_ONCE, after });
      yield* some;
      after = some.at(-1)?.id ?? null;
      if (some.length < AT_ONCE) return;
    }
  }
}
