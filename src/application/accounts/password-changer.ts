import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import {
  AccountRepository,
  CredentialRepository,
  MailedTokenRepository,
  PasswordBlocklist,
  PasswordHasher,
} from './ports.js';

interface Replacement {
  readonly account: Account;
  readonly passwordHash: string;
  /** The id of the only session that stays. */
  readonly keepSession?: string;
  /** Also revokes the keys that the account has minted. Keys of registrations and logins are always revoked. */
  readonly revokeKeys: boolean;
}

/** Performs the common steps of all password changes. */
@injectable()
export class PasswordChanger {
  constructor(
    private readonly blocklist: PasswordBlocklist,
    private readonly hasher: PasswordHasher,
    private readonly accounts: AccountRepository,
    private readonly credentials: CredentialRepository,
    private readonly mailedTokens: MailedTokenRepository,
  ) {}

  /** Hashes a new password. Throws HashingBusy, and InvalidRequest for a password in the blocklist. */
  async hash(password: string): Promise<string> {
    if (this.blocklist.include(password)) {
      throw new InvalidRequest([{ path: 'password', message: 'is one of the most common passwords: choose another' }]);
    }
    return this.hasher.hash(password);
  }

  /** Saves the hash in the caller's unit of work. Ends reset tokens. Ends sessions and keys as `Replacement` says. */
  async replace({ account, passwordHash, keepSession, revokeKeys }: Replacement): Promise<Account> {
    const { id: accountId } = account;
    await this.accounts.change(accountId, { passwordHash });
    await this.credentials.removeAll({ accountId, kind: 'session', ...(keepSession && { except: keepSession }) });
    const origins = ['registration', 'login'] as const;
    await this.credentials.removeAll({ accountId, kind: 'api_key', ...(!revokeKeys && { origins }) });
    await this.mailedTokens.removeUnused(accountId, 'reset');
    return { ...account, passwordHash };
  }
}
