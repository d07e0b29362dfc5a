import type { ExpirableKind, ExpiredData } from '../../../src/application/operations/ports.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Row {
  readonly id?: string;
  readonly tokenId?: string;
  readonly expiresAt: Date | null;
}

const TABLES = {
  credentials: 'credentials',
  mailed_tokens: 'mailed_tokens',
  site_tokens: 'spent_site_tokens',
} as const;

export class MemoryExpiredData implements ExpiredData {
  constructor(private readonly store: MemoryStore) {}

  /** Of mails there is nothing left here once they are delivered. */
  async remove(kind: ExpirableKind, before: Date, most: number): Promise<number> {
    if (kind === 'mails') return 0;
    const table = new MemoryTable<Row>(this.store, TABLES[kind]);
    const over = table.all().filter(({ expiresAt }) => expiresAt !== null && expiresAt <= before);
    const some = over.sort((a, b) => Number(a.expiresAt) - Number(b.expiresAt)).slice(0, most);
    for (const { id, tokenId } of some) table.remove(String(id ?? tokenId));
    return some.length;
  }
}
