import type { SpentSiteTokenRepository } from '../../../src/application/accounts/ports.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemorySpentSiteTokenRepository implements SpentSiteTokenRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<{ readonly tokenId: string; readonly expiresAt: Date }>(store, 'spent_site_tokens');
  }

  async spend(tokenId: string, expiresAt: Date, now: Date): Promise<boolean> {
    for (const spent of this.rows.all()) if (spent.expiresAt <= now) this.rows.remove(spent.tokenId);
    if (expiresAt <= now || this.rows.get(tokenId)) return false;
    this.rows.put(tokenId, { tokenId, expiresAt });
    return true;
  }
}
