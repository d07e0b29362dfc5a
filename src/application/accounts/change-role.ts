import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Role } from '../../domain/accounts/role.js';
import { Audit } from '../audit/audit.js';
import { UnitOfWork } from '../shared/ports.js';
import { AccountRepository, InviteRepository } from './ports.js';
import { memberOf, requireAnotherAdmin } from './team-members.js';

/** Whoever is no longer admin has no pending invites any more. */
@injectable()
export class ChangeRole {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly invites: InviteRepository,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, LastAdmin. */
  execute(input: { by: Caller | null; accountId: string; role: Role }): Promise<Account> {
    const caller = authorize(input.by, permissions.manageTeam);
    return this.unitOfWork.run(async () => {
      const team = await this.accounts.ofTeam(caller.teamId);
      const account = memberOf(team, input.accountId);
      if (input.role !== 'admin') requireAnotherAdmin(team, account);
      const changed = { ...account, role: input.role };
      await this.accounts.save(changed);
      if (input.role !== 'admin') await this.invites.revokeAllBy(account.id);
      if (changed.role !== account.role) {
        const details = { from: account.role, to: changed.role };
        await this.audit.record({ by: caller, action: 'account.role_changed', object: account, details });
      }
      return changed;
    });
  }
}
