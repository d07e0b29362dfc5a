import type { TeamRepository } from '../../../src/application/accounts/ports.js';
import type { Team } from '../../../src/domain/accounts/account.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export const teamRows = (store: MemoryStore) => new MemoryTable<Team>(store, 'teams');

export class MemoryTeamRepository implements TeamRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = teamRows(store);
  }

  async add(team: Team): Promise<void> {
    this.rows.put(team.id, team);
  }

  async byId(id: string): Promise<Team | null> {
    return this.rows.get(id);
  }

  async bySiteKey(siteKey: string): Promise<Team | null> {
    return this.rows.find((team) => team.siteKey === siteKey);
  }

  async operator(): Promise<Team | null> {
    return this.rows.find(({ operator }) => operator);
  }
}
