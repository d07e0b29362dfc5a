import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { Webhook } from '../../domain/alerts/webhook.js';
import type { Webhooks } from './ports/webhooks.js';

export class ListWebhooks {
  constructor(private readonly webhooks: Webhooks) {}

  /** Oldest first. Members see of each URL only where it leads. */
  async execute(input: { by: Caller | null }): Promise<Webhook[]> {
    const caller = authorize(input.by, permissions.readMonitoring);
    const webhooks = await this.webhooks.all();
    const managing = caller.kind === 'master' || caller.role !== 'member';
    return managing ? webhooks : webhooks.map((webhook) => ({ ...webhook, url: Webhook.origin(webhook) }));
  }
}
