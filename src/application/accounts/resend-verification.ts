import type { Caller } from '../../domain/access/caller.js';
import { Unauthenticated } from '../../domain/access/errors.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Account } from '../../domain/accounts/account.js';
import type { UnitOfWork } from '../shared/ports/unit-of-work.js';
import type { MailToken } from './mail-token.js';
import type { Accounts } from './ports/accounts.js';

/** Sends another verification e-mail; nothing to an account that is verified already. Earlier tokens stay good. */
export class ResendVerification {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: Accounts,
    private readonly mailToken: MailToken,
  ) {}

  execute(input: { by: Caller | null }): Promise<Account> {
    const { accountId } = authorize(input.by, permissions.ownAccount);
    return this.unitOfWork.run(async () => {
      const account = await this.accounts.byId(accountId);
      if (!account) throw new Unauthenticated();
      if (!account.emailVerifiedAt) await this.mailToken.execute(account, 'verification');
      return account;
    });
  }
}
