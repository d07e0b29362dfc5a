import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import type { Caller, Role } from '../../domain/accounts/caller.js';
import { LastAdmin } from '../../domain/accounts/errors.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { CallRemoval } from '../record/call-removal.js';
import { UnitOfWork } from '../shared/ports.js';
import { Authority, MEMBERSHIP } from './authority.js';
import { AccountRepository, InviteRepository } from './ports.js';

interface OfAccount {
  readonly accountId: string;
}

/** Manages the accounts of the caller's team. */
@injectable()
export class TeamService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: AccountRepository,
    private readonly invites: InviteRepository,
    private readonly authority: Authority,
    private readonly removal: CallRemoval,
    private readonly audit: Audit,
  ) {}

  /** Lists the accounts of the team, oldest first. */
  async list(by: Caller | null): Promise<Account[]> {
    return this.accounts.ofTeam(authorize(by, permissions.readTeam).teamId);
  }

  /** Throws NotFound, also for an account of another team. */
  async read(by: Caller | null, { accountId }: OfAccount): Promise<Account> {
    return memberOf(await this.list(by), accountId);
  }

  /** Changes a role. Revokes the account's pending invites if the role is not admin. Throws NotFound, LastAdmin. */
  async changeRole(by: Caller | null, { accountId, role }: OfAccount & { role: Role }): Promise<Account> {
    return this.unitOfWork.locked(MEMBERSHIP, async () => {
      const actor = await this.authority.confirm(by, permissions.manageTeam);
      const team = await this.accounts.ofTeam(actor.teamId);
      const account = memberOf(team, accountId);
      if (role !== 'admin') requireAnotherAdmin(team, account);
      await this.accounts.change(account.id, { role });
      if (role !== 'admin') await this.invites.revokeAllBy(account.id);
      if (role !== account.role) {
        const details = { from: account.role, to: role };
        await this.audit.record({ by: actor, action: 'account.role_changed', object: account, details });
      }
      return { ...account, role };
    });
  }

  /**
   * Removes an account with its credentials and conversations, and revokes its invites. Its kept calls are hidden at once
   * and deleted soon. Throws NotFound, LastAdmin.
   */
  async remove(by: Caller | null, { accountId }: OfAccount): Promise<void> {
    await this.unitOfWork.locked(MEMBERSHIP, async () => {
      const actor = await this.authority.confirm(by, permissions.manageTeam);
      const team = await this.accounts.ofTeam(actor.teamId);
      const account = memberOf(team, accountId);
      requireAnotherAdmin(team, account);
      await this.invites.revokeAllBy(account.id);
      await this.accounts.remove(account.id);
      await this.removal.after({ accountId: account.id });
      await this.audit.record({ by: actor, action: 'account.removed', object: account });
    });
  }
}

function memberOf(team: readonly Account[], accountId: string): Account {
  const account = team.find(({ id }) => id === accountId);
  if (!account) throw new NotFound('user');
  return account;
}

function requireAnotherAdmin(team: readonly Account[], account: Account): void {
  const admins = team.filter(({ role }) => role === 'admin');
  if (admins.length === 1 && admins[0]?.id === account.id) throw new LastAdmin();
}
