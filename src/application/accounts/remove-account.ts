import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Audit } from '../audit/audit.js';
import { UnitOfWork } from '../shared/ports.js';
import { AccountRepository, InviteRepository } from './ports.js';
import { memberOf, requireAnotherAdmin } from './team-members.js';

/** Ends an account of the team with all its credentials and invites, and frees its place under the cap. */
@injectable()
export class RemoveAccount {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly invites: InviteRepository,
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
