import type { AccountRepository } from '../../../src/application/accounts/ports.js';
import { type Account, emailKey } from '../../../src/domain/accounts/account.js';
import { EmailTaken } from '../../../src/domain/accounts/errors.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export const accountRows = (store: MemoryStore) => new MemoryTable<Account>(store, 'accounts');

export class MemoryAccountRepository implements AccountRepository {
  private readonly rows;

  constructor(private readonly store: MemoryStore) {
    this.rows = accountRows(store);
  }

  async add(account: Account): Promise<void> {
    if (this.withEmail(account.email)) throw new EmailTaken();
    this.rows.put(account.id, account);
  }

  async save(account: Account): Promise<void> {
    const holder = this.withEmail(account.email);
    if (holder && holder.id !== account.id) throw new EmailTaken();
    if (this.rows.get(account.id)) this.rows.put(account.id, account);
  }

  async byId(id: string): Promise<Account | null> {
    return this.rows.get(id);
  }

  async byEmail(email: string): Promise<Account | null> {
    return this.withEmail(email);
  }

  async ofTeam(teamId: string): Promise<Account[]> {
    const members = this.rows.all().filter((account) => account.teamId === teamId);
    return members.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async wantingAlerts(teamId: string): Promise<Account[]> {
    return (await this.ofTeam(teamId)).filter(({ alertEmails }) => alertEmails);
  }

  async all({ limit, after }: Parameters<AccountRepository['all']>[0]): Promise<Account[]> {
    const all = this.rows.all().sort((a, b) => (a.id < b.id ? -1 : 1));
    return all.filter(({ id }) => after === null || id > after).slice(0, limit);
  }

  async remove(id: string): Promise<void> {
    this.rows.remove(id);
    for (const table of ['credentials', 'mailed_tokens', 'conversations']) {
      const owned = new MemoryTable<{ readonly id: string; readonly accountId: string }>(this.store, table);
      for (const row of owned.all()) if (row.accountId === id) owned.remove(row.id);
    }
  }

  async count(): Promise<number> {
    return this.rows.all().length;
  }

  private withEmail(email: string): Account | null {
    const key = emailKey(email);
    return this.rows.find((account) => emailKey(account.email) === key);
  }
}
