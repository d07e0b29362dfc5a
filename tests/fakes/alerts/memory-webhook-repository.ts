import type { WebhookRepository } from '../../../src/application/alerts/ports.js';
import { type Delivery, Webhook } from '../../../src/domain/alerts/webhook.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryWebhookRepository implements WebhookRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<{ readonly webhook: Webhook; readonly secret: string }>(store, 'webhooks');
  }

  async add(webhook: Webhook, secret: string): Promise<void> {
    this.rows.put(webhook.id, { webhook, secret });
  }

  async all(): Promise<Webhook[]> {
    return this.rows
      .all()
      .map(({ webhook }) => webhook)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async open(id: string): Promise<{ webhook: Webhook; secret: string } | null> {
    return this.rows.get(id);
  }

  async note(id: string, delivery: Delivery): Promise<void> {
    const row = this.rows.get(id);
    if (!row) return;
    const enabled = row.webhook.enabled && !Webhook.isGone(delivery);
    this.rows.put(id, { ...row, webhook: { ...row.webhook, enabled, lastDelivery: delivery } });
  }

  async remove(id: string): Promise<boolean> {
    return this.rows.remove(id);
  }
}
