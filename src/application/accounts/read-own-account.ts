import type { Caller } from '../../domain/access/caller.js';
import { Unauthenticated } from '../../domain/access/errors.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Account } from '../../domain/accounts/account.js';
import type { Accounts } from './ports/accounts.js';

export class ReadOwnAccount {
  constructor(private readonly accounts: Accounts) {}

  async execute(input: { by: Caller | null }): Promise<Account> {
    const { accountId } = authorize(input.by, permissions.ownAccount);
    const account = await this.accounts.byId(accountId);
    if (!account) throw new Unauthenticated();
    return account;
  }
}
