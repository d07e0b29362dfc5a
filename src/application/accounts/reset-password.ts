import { Account } from '../../domain/accounts/account.js';
import { TokenNotFound } from '../../domain/accounts/errors.js';
import { MailedToken } from '../../domain/accounts/mailed-token.js';
import { Actor } from '../../domain/audit/audit-entry.js';
import type { Audit } from '../audit/audit.js';
import type { Clock } from '../shared/ports/clock.js';
import type { SecretTokens } from '../shared/ports/secret-tokens.js';
import type { UnitOfWork } from '../shared/ports/unit-of-work.js';
import type { ChoosePassword } from './choose-password.js';
import type { Accounts } from './ports/accounts.js';
import type { MailedTokens } from './ports/mailed-tokens.js';
import type { ReplacePassword } from './replace-password.js';

/** Sets a new password by the token of a reset e-mail, and ends every session of the account. */
export class ResetPassword {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly mailed: MailedTokens,
    private readonly accounts: Accounts,
    private readonly choosePassword: ChoosePassword,
    private readonly replacePassword: ReplacePassword,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest, TokenNotFound, TokenUsed, TokenExpired, HashingBusy. */
  async execute(input: { token: string; password: string; revokeKeys: boolean }): Promise<Account> {
    await this.use(input.token);
    const { password } = Account.profile({ password: input.password });
    const passwordHash = await this.choosePassword.execute(password);
    return this.unitOfWork.run(async () => {
      const { used, account } = await this.use(input.token);
      await this.mailed.save(used);
      const details = { keys_revoked: input.revokeKeys };
      await this.audit.record({ by: Actor.self(account), action: 'account.password_reset', object: account, details });
      return this.replacePassword.execute({ account, passwordHash, revokeKeys: input.revokeKeys });
    });
  }

  private async use(token: string): Promise<{ used: MailedToken; account: Account }> {
    const known = this.tokens.read(token);
    const found = known?.kind === 'reset' ? await this.mailed.byDigest(known.digest) : null;
    const account = found && (await this.accounts.byId(found.accountId));
    if (!found || !account) throw new TokenNotFound();
    return { used: MailedToken.use(found, this.clock.now()), account };
  }
}
