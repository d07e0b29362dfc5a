import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { Unauthenticated } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { UnitOfWork } from '../shared/ports.js';
import { MailToken } from './mail-token.js';
import { AccountRepository } from './ports.js';

/** Sends another verification e-mail; nothing to an account that is verified already. Earlier tokens stay good. */
@injectable()
export class ResendVerification {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
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
