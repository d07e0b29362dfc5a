import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Audit } from '../audit/audit.js';
import type { UnitOfWork } from '../shared/ports/unit-of-work.js';
import type { Accounts } from './ports/accounts.js';
import type { Invites } from './ports/invites.js';
import { memberOf, requireAnotherAdmin } from './team-members.js';

/** Ends an account of the team with all its credentials and invites, and frees its place under the cap. */
export class RemoveAccount {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: Accounts,
    private readonly invites: Invites,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, LastAdmin. */
  execute(input: { by: Caller | null; accountId: string }): Promise<void> {
    const caller = authorize(input.by, permissions.manageTeam);
    return this.unitOfWork.run(async () => {
      const team = await this.accounts.ofTeam(caller.teamId);
      const account = memberOf(team, input.accountId);
      requireAnotherAdmin(team, account);
      await this.invites.revokeAllBy(account.id);
      await this.accounts.remove(account.id);
      await this.audit.record({ by: caller, action: 'account.removed', object: account });
    });
  }
}
