import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { AccountRepository, CredentialRepository, MailedTokenRepository } from './ports.js';

interface Input {
  readonly account: Account;
  readonly passwordHash: string;
  /** The session that may stay, if any. */
  readonly keepSession?: string;
  /** Also end the keys that were asked for, not only those that registrations and logins minted. */
  readonly revokeKeys: boolean;
}

/** Writes a new password, within the caller's unit of work, and ends what the old one may have given away. */
@injectable()
export class ReplacePassword {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly credentials: CredentialRepository,
    private readonly mailed: MailedTokenRepository,
  ) {}

  async execute({ account, passwordHash, keepSession, revokeKeys }: Input): Promise<Account> {
    const { id: accountId } = account;
    const changed = { ...account, passwordHash };
    await this.accounts.save(changed);
    await this.credentials.removeAll({ accountId, kind: 'session', ...(keepSession && { except: keepSession }) });
    const origins = ['registration', 'login'] as const;
    await this.credentials.removeAll({ accountId, kind: 'api_key', ...(!revokeKeys && { origins }) });
    await this.mailed.removeUnused(accountId, 'reset');
    return changed;
  }
}
