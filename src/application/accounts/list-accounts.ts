import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Account } from '../../domain/accounts/account.js';
import type { Accounts } from './ports/accounts.js';

/** The roster of the caller's team. */
export class ListAccounts {
  constructor(private readonly accounts: Accounts) {}

  async execute(input: { by: Caller | null }): Promise<Account[]> {
    return this.accounts.ofTeam(authorize(input.by, permissions.readTeam).teamId);
  }
}
