import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import { TokenNotFound } from '../../domain/accounts/errors.js';
import { MailedToken } from '../../domain/accounts/mailed-token.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import { Audit } from '../audit/audit.js';
import { Clock, SecretTokens, UnitOfWork } from '../shared/ports.js';
import { AccountRepository, MailedTokenRepository } from './ports.js';

@injectable()
export class VerifyEmail {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly verifications: MailedTokenRepository,
    private readonly accounts: AccountRepository,
    private readonly tokens: SecretTokens,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws TokenNotFound, TokenUsed, TokenExpired. */
  execute(input: { token: string }): Promise<Account> {
    return this.unitOfWork.run(async () => {
      const known = this.tokens.read(input.token);
      const found = known?.kind === 'verification' ? await this.verifications.byDigest(known.digest) : null;
      const account = found && (await this.accounts.byId(found.accountId));
      if (!found || !account) throw new TokenNotFound();
      const now = this.clock.now();
      await this.verifications.save(MailedToken.use(found, now));
      const verified = Account.verified(account, now);
      await this.accounts.save(verified);
      await this.audit.record({ by: Actor.self(account), action: 'account.email_verified', object: account });
      return verified;
    });
  }
}
