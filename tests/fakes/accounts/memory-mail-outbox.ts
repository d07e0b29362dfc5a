import type { MailOutbox, OutgoingMail } from '../../../src/application/accounts/ports.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Waiting extends OutgoingMail {
  readonly dueAt: Date;
}

/** Forgets delivered mails. */
export class MemoryMailOutbox implements MailOutbox {
  private readonly rows;
  private readonly counted;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Waiting>(store, 'outbox');
    this.counted = new MemoryTable<{ readonly series: string; readonly dueAt: Date }>(store, 'outbox_series');
  }

  async add({ series, ...mail }: Parameters<MailOutbox['add']>[0]): Promise<void> {
    this.rows.put(mail.id, { ...mail, failures: 0 });
    if (series !== undefined) this.counted.put(mail.id, { series, dueAt: mail.dueAt });
  }

  async countOf(series: string, since: Date): Promise<number> {
    return this.counted.all().filter((mail) => mail.series === series && mail.dueAt >= since).length;
  }

  async take(now: Date, leasedUntil: Date): Promise<OutgoingMail | null> {
    const due = this.rows.all().filter(({ dueAt }) => dueAt <= now);
    const [mail] = due.sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
    if (!mail) return null;
    const { id, message, failures } = mail;
    this.rows.put(id, { ...mail, dueAt: leasedUntil });
    return { id, message, failures };
  }

  async delivered(id: string): Promise<void> {
    this.rows.remove(id);
  }

  async failed(id: string, dueAt: Date): Promise<void> {
    const mail = this.rows.get(id);
    if (mail) this.rows.put(id, { ...mail, dueAt, failures: mail.failures + 1 });
  }
}
