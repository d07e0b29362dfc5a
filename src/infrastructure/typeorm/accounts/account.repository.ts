import { injectable } from 'inversify';
import { MoreThan } from 'typeorm';
import type { AccountChange, AccountRepository, TeamRepository } from '../../../application/accounts/ports.js';
import { type Account, emailKey, type Team } from '../../../domain/accounts/account.js';
import { EmailTaken } from '../../../domain/accounts/errors.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface AccountRow extends Account {
  /** Used only to find an account. It is not selected. */
  readonly emailKey?: string;
}

export const AccountTable = defineTable<AccountRow>('accounts', {
  id: { type: 'text', primary: true },
  teamId: { type: 'text' },
  name: { type: 'text' },
  email: { type: 'text' },
  emailKey: { type: 'text', select: false },
  role: { type: 'text' },
  passwordHash: { type: 'text', nullable: true },
  emailVerifiedAt: { type: 'timestamptz', nullable: true },
  alertEmails: { type: 'boolean' },
  createdAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmAccountRepository implements AccountRepository {
  private readonly table = () => this.unitOfWork.repository(AccountTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  /**
   * Checks before it inserts, because a failed INSERT ends a transaction. If another account gets the e-mail at the
   * same time, the unit of work repeats the check.
   */
  add(account: Account): Promise<void> {
    return this.unitOfWork.run(async () => {
      if (await this.byEmail(account.email)) throw new EmailTaken();
      await this.table().insert({ ...account, emailKey: emailKey(account.email) });
    });
  }

  async change(id: string, change: AccountChange): Promise<void> {
    await this.table().update({ id }, change);
  }

  byId(id: string): Promise<Account | null> {
    return this.table().findOneBy({ id });
  }

  byEmail(email: string): Promise<Account | null> {
    return this.table().findOneBy({ emailKey: emailKey(email) });
  }

  ofTeam(teamId: string): Promise<Account[]> {
    return this.table().find({ where: { teamId }, order: { id: 'ASC' } });
  }

  wantingAlerts(teamId: string): Promise<Account[]> {
    return this.table().find({ where: { teamId, alertEmails: true }, order: { id: 'ASC' } });
  }

  all({ limit, after }: Parameters<AccountRepository['all']>[0]): Promise<Account[]> {
    const where = after === null ? {} : { id: MoreThan(after) };
    return this.table().find({ where, order: { id: 'ASC' }, take: limit });
  }

  async remove(id: string): Promise<void> {
    await this.table().delete({ id });
  }

  count(): Promise<number> {
    return this.table().count();
  }
}

export const TeamTable = defineTable<Team>('teams', {
  id: { type: 'text', primary: true },
  operator: { type: 'boolean' },
  siteKey: { type: 'text', nullable: true },
  createdAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmTeamRepository implements TeamRepository {
  private readonly table = () => this.unitOfWork.repository(TeamTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(team: Team): Promise<void> {
    await this.table().insert(team);
  }

  byId(id: string): Promise<Team | null> {
    return this.table().findOneBy({ id });
  }

  bySiteKey(siteKey: string): Promise<Team | null> {
    return this.table().findOneBy({ siteKey });
  }

  operator(): Promise<Team | null> {
    return this.table().findOneBy({ operator: true });
  }
}
