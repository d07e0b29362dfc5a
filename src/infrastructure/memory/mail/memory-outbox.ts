import type { Outbox, OutgoingMail } from '../../../application/mail/ports/outbox.js';
import type { Message } from '../../../domain/mail/message.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Waiting extends OutgoingMail {
  readonly dueAt: Date;
}

/** What is delivered is gone altogether. */
export class MemoryOutbox implements Outbox {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Waiting>(store, 'outbox');
  }

  async add(mail: { id: string; message: Message; dueAt: Date }): Promise<void> {
    this.rows.put(mail.id, { ...mail, failures: 0 });
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
