import type { MailedTokenRepository } from '../../../src/application/accounts/ports.js';
import type { MailedToken, MailedTokenPurpose } from '../../../src/domain/accounts/mailed-token.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryMailedTokenRepository implements MailedTokenRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<MailedToken>(store, 'mailed_tokens');
  }

  async add(token: MailedToken): Promise<void> {
    this.rows.put(token.id, token);
  }

  async save(token: MailedToken): Promise<void> {
    if (this.rows.get(token.id)) this.rows.put(token.id, token);
  }

  async byDigest(digest: string): Promise<MailedToken | null> {
    return this.rows.find((token) => token.digest === digest);
  }

  async countSince(accountId: string, purpose: MailedTokenPurpose, since: Date): Promise<number> {
    const isMeant = (one: MailedToken) => one.accountId === accountId && one.purpose === purpose;
    return this.rows.all().filter((one) => isMeant(one) && one.createdAt > since).length;
  }

  async removeUnused(accountId: string, purpose: MailedTokenPurpose): Promise<void> {
    for (const token of this.rows.all()) {
      if (token.accountId === accountId && token.purpose === purpose && !token.usedAt) this.rows.remove(token.id);
    }
  }
}
