import type { Teams } from '../../../application/accounts/ports/teams.js';
import type { Team } from '../../../domain/accounts/account.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export const teamRows = (store: MemoryStore) => new MemoryTable<Team>(store, 'teams');

export class MemoryTeams implements Teams {
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
