import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions, permitted } from '../../domain/accounts/permission.js';
import { Webhook } from '../../domain/alerts/webhook.js';
import { WebhookRepository } from './ports.js';

@injectable()
export class ListWebhooks {
  constructor(private readonly webhooks: WebhookRepository) {}

  /** Oldest first. Who only reads sees of each URL only where it leads. */
  async execute(input: { by: Caller | null }): Promise<Webhook[]> {
    const caller = authorize(input.by, permissions.readMonitoring);
    const webhooks = await this.webhooks.all();
    return permitted(caller).manageMonitoring
      ? webhooks
      : webhooks.map((webhook) => ({ ...webhook, url: Webhook.origin(webhook) }));
  }
}
