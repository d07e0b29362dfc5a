import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { Unauthenticated } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { AccountRepository } from './ports.js';

@injectable()
export class ReadOwnAccount {
  constructor(private readonly accounts: AccountRepository) {}

  async execute(input: { by: Caller | null }): Promise<Account> {
    const { accountId } = authorize(input.by, permissions.ownAccount);
    const account = await this.accounts.byId(accountId);
    if (!account) throw new Unauthenticated();
    return account;
  }
}
