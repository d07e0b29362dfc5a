import { injectable } from 'inversify';
import type { TeamRepository } from '../../../application/accounts/ports.js';
import type { Team } from '../../../domain/accounts/account.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const TeamTable = defineTable<Team>({
  name: 'Team',
  tableName: 'teams',
  columns: {
    id: { type: 'text', primary: true },
    operator: { type: 'boolean' },
    siteKey: { type: 'text', name: 'site_key', nullable: true },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
});

@injectable()
export class TypeOrmTeamRepository implements TeamRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(team: Team): Promise<void> {
    await this.table.insert(team);
  }

  byId(id: string): Promise<Team | null> {
    return this.table.findOneBy({ id });
  }

  bySiteKey(siteKey: string): Promise<Team | null> {
    return this.table.findOneBy({ siteKey });
  }

  operator(): Promise<Team | null> {
    return this.table.findOneBy({ operator: true });
  }

  private get table() {
    return this.unitOfWork.repository(TeamTable);
  }
}
