import {
  AlertNotifier,
  type Announcement,
  type DeliveryOutcome,
  type WebhookRepository,
  type WebhookSender,
} from '../../application/alerts/ports.js';
import type { Clock } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { Webhook } from '../../domain/alerts/webhook.js';

/** Posts alerts to the webhooks that are enabled. Stores the outcome of the last attempt with each webhook. */
export class WebhookNotifier extends AlertNotifier {
  readonly name = 'webhook';
  override readonly separately = true;
  /** The last attempt is a day and a half after the first, as with the default, but there are fewer of them. */
  override readonly retries = { attempts: 15, longestPauseMs: Number.POSITIVE_INFINITY };

  /** `bodyOf` must return the same for an alert in every attempt. */
  constructor(
    private readonly bodyOf: (alert: Alert) => object,
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async receivers(): Promise<string[]> {
    return (await this.webhooks.all()).filter(({ enabled }) => enabled).map(({ id }) => id);
  }

  async deliver({ receiver, alerts: [alert] }: Announcement, signal: AbortSignal): Promise<DeliveryOutcome> {
    const opened = await this.webhooks.open(receiver);
    if (!opened || !alert) return { result: 'failed', reason: 'the webhook was deleted' };
    const { webhook, secret } = opened;
    const at = this.clock.now();
    if (Webhook.isPaused(webhook, at)) return { result: 'retry', reason: 'its receiver did not answer a moment ago' };
    const body = JSON.stringify(this.bodyOf(alert));
    const { status, error } = await this.sender.post(
      { url: webhook.url, secret, id: alert.id, body, sentAt: at },
      signal,
    );
    const delivery = { status, error, at, alertId: alert.id };
    await this.webhooks.note(receiver, delivery);
    if (error === null) return { result: 'delivered' };
    // The Standard Webhooks specification demands another attempt after every other status.
    if (Webhook.isGone(delivery)) return { result: 'failed', reason: `${error}, so the webhook is disabled` };
    return { result: 'retry', reason: error };
  }
}
