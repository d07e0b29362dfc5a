import type { WebhookRepository } from '../../../application/alerts/ports.js';
import { type Delivery, Webhook } from '../../../domain/alerts/webhook.js';
import { Sealer } from '../../crypto/secrets.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface WebhookRow extends Omit<Webhook, 'url' | 'lastDelivery'> {
  /** The URL and the secret as sealed JSON. Each of them would let a reader call the receiver. */
  readonly sealed: string;
  readonly lastDelivery: (Omit<Delivery, 'at'> & { readonly at: string }) | null;
}

export const WebhookTable = defineTable<WebhookRow>('webhooks', {
  id: { type: 'text', primary: true },
  sealed: { type: 'text' },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  enabled: { type: 'boolean' },
  lastDelivery: { type: 'json', nullable: true },
});

export class TypeOrmWebhookRepository implements WebhookRepository {
  private readonly table = () => this.unitOfWork.repository(WebhookTable);

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly sealer: Sealer,
  ) {}

  async add({ url, lastDelivery: _, ...webhook }: Webhook, secret: string): Promise<void> {
    const sealed = this.sealer.seal(JSON.stringify({ url, secret }), webhook.id);
    await this.table().insert({ ...webhook, sealed, lastDelivery: null });
  }

  async all(): Promise<Webhook[]> {
    const rows = await this.table().find({ order: { id: 'ASC' } });
    return rows.map((row) => toWebhook(row, this.opened(row)?.url ?? ''));
  }

  async open(id: string): Promise<{ webhook: Webhook; secret: string } | null> {
    const row = await this.table().findOneBy({ id });
    if (!row) return null;
    const opened = this.opened(row);
    if (!opened) throw new Error(`the webhook ${id} was sealed with another SERVICE_SECRET: start with that one`);
    return { webhook: toWebhook(row, opened.url), secret: opened.secret };
  }

  async note(id: string, delivery: Delivery): Promise<void> {
    const lastDelivery = { ...delivery, at: delivery.at.toISOString() };
    await this.table().update({ id }, { lastDelivery, ...(Webhook.isGone(delivery) && { enabled: false }) });
  }

  remove(id: string): Promise<boolean> {
    return changesOne(this.table().delete({ id }));
  }

  private opened({ id, sealed }: WebhookRow): { url: string; secret: string } | null {
    try {
      return JSON.parse(this.sealer.open(sealed, id)) as { url: string; secret: string };
    } catch {
      return null;
    }
  }
}

const toWebhook = ({ sealed: _, lastDelivery: last, ...row }: WebhookRow, url: string): Webhook => ({
  ...row,
  url,
  lastDelivery: last && { ...last, at: new Date(last.at) },
});
