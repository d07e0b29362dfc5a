import { injectable } from 'inversify';
import { type AlertNotifier, WebhookRepository } from '../../application/alerts/ports.js';
import { FAN_OUT } from '../../application/alerts/webhook-delivery.js';
import { WorkQueue } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';

/** Alerts in one task. Thousands that fire at once then cost the finishing jobs few statements. */
const BATCH = 20;

/** Queues the delivery of alerts to every webhook that is enabled at this moment. */
@injectable()
export class WebhookNotifier implements AlertNotifier {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly queue: WorkQueue,
  ) {}

  async announce(alerts: readonly Alert[]): Promise<void> {
    const enabled = (await this.webhooks.all()).filter((webhook) => webhook.enabled);
    if (enabled.length === 0) return;
    const webhookIds = enabled.map(({ id }) => id);
    for (let from = 0; from < alerts.length; from += BATCH) {
      const alertIds = alerts.slice(from, from + BATCH).map(({ id }) => id);
      await this.queue.enqueue(FAN_OUT, { webhookIds, alertIds });
    }
  }
}
