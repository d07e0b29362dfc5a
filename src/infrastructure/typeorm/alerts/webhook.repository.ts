import type { WebhookRepository } from '../../../application/alerts/ports.js';
import { type Delivery, Webhook, webhookLimits } from '../../../domain/alerts/webhook.js';
import { Sealer } from '../../crypto/secrets.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface WebhookRow extends Omit<Webhook, 'url' | 'deliveries'> {
  /** The URL and the secret as sealed JSON. Each of them would let a reader call the receiver. */
  readonly sealed: string;
  readonly deliveries: readonly (Omit<Delivery, 'at'> & { readonly at: string })[];
}

/** Puts a delivery before the others in one statement, so that none of several at once is lost. */
const NOTED = `jsonb_path_query_array(CAST(:delivery AS jsonb) || deliveries, '$[0 to ${webhookLimits.deliveries - 1}]')`;

export const WebhookTable = defineTable<WebhookRow>('webhooks', {
  id: { type: 'text', primary: true },
  sealed: { type: 'text' },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  enabled: { type: 'boolean' },
  deliveries: { type: 'jsonb' },
});

export class TypeOrmWebhookRepository implements WebhookRepository {
  private readonly table = () => this.unitOfWork.repository(WebhookTable);

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly sealer: Sealer,
  ) {}

  async add({ url, deliveries: _, ...webhook }: Webhook, secret: string): Promise<void> {
    const sealed = this.sealer.seal(JSON.stringify({ url, secret }), webhook.id);
    await this.table().insert({ ...webhook, sealed, deliveries: [] });
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
    const change = { deliveries: () => NOTED, ...(Webhook.isGone(delivery) && { enabled: false }) };
    const update = this.table().createQueryBuilder().update().set(change).where({ id });
    await update.setParameter('delivery', JSON.stringify({ ...delivery, at: delivery.at.toISOString() })).execute();
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

const toWebhook = ({ sealed: _, deliveries, ...row }: WebhookRow, url: string): Webhook => ({
  ...row,
  url,
  deliveries: deliveries.map(({ at, ...delivery }) => ({ ...delivery, at: new Date(at) })),
});
