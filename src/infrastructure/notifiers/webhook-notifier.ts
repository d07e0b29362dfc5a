import { injectable } from 'inversify';
import { type AlertNotifier, WebhookRepository } from '../../application/alerts/ports.js';
import { SPREADING } from '../../application/alerts/post-alerts.js';
import { WorkQueue } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';

/** So many alerts in one task: where thousands fire at once, whoever waits for their jobs must not wait for this. */
const IN_ONE_TASK = 20;

/** Leaves the alerts to the work queue, for every webhook that there is at this moment. */
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
    for (let from = 0; from < alerts.length; from += IN_ONE_TASK) {
      const alertIds = alerts.slice(from, from + IN_ONE_TASK).map(({ id }) => id);
      await this.queue.enqueue(SPREADING, { webhookIds, alertIds });
    }
  }
}
