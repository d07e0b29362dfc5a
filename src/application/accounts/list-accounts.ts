import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { AccountRepository } from './ports.js';

/** The roster of the caller's team. */
@injectable()
export class ListAccounts {
  constructor(private readonly accounts: AccountRepository) {}

  async execute(input: { by: Caller | null }): Promise<Account[]> {
    return this.accounts.ofTeam(authorize(input.by, permissions.readTeam).teamId);
  }
}
