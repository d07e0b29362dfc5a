import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Webhook } from '../../domain/alerts/webhook.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { WebhookRepository } from './ports.js';

/** Nothing is posted to it any more, what still waits neither. */
@injectable()
export class DeleteWebhook {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound. */
  async execute({ by, id }: { by: Caller | null; id: string }): Promise<void> {
    const caller = authorize(by, permissions.manageMonitoring);
    const webhook = (await this.webhooks.all()).find((one) => one.id === id);
    if (!webhook) throw new NotFound('webhook');
    const act = { by: caller, action: 'webhook.deleted', object: Webhook.named(webhook) } as const;
    if (!(await this.audit.perform(act, () => this.webhooks.remove(id)))) throw new NotFound('webhook');
  }
}
