import type { InviteRepository } from '../../../src/application/accounts/ports.js';
import type { Invite } from '../../../src/domain/accounts/invite.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryInviteRepository implements InviteRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Invite>(store, 'invites');
  }

  async add(invite: Invite): Promise<void> {
    this.rows.put(invite.id, invite);
  }

  async save(invite: Invite): Promise<void> {
    if (this.rows.get(invite.id)) this.rows.put(invite.id, invite);
  }

  async revokeAllBy(accountId: string): Promise<void> {
    const own = this.rows.all().filter((one) => one.invitedBy === accountId && one.status === 'pending');
    for (const invite of own) this.rows.put(invite.id, { ...invite, status: 'revoked' });
  }

  async find(teamId: string, id: string): Promise<Invite | null> {
    const invite = this.rows.get(id);
    return invite?.teamId === teamId ? invite : null;
  }

  async byDigest(digest: string): Promise<Invite | null> {
    return this.rows.find((invite) => invite.digest === digest);
  }

  async pending(teamId: string, now: Date): Promise<Invite[]> {
    const isPending = (one: Invite) => one.teamId === teamId && one.status === 'pending' && one.expiresAt > now;
    return this.rows
      .all()
      .filter(isPending)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
  }
}
