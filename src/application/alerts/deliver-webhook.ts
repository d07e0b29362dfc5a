import type { Alert } from '../../domain/alerts/alert.js';
import { Webhook } from '../../domain/alerts/webhook.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Log } from '../shared/ports/log.js';
import type { Alerts } from './ports/alerts.js';
import type { WebhookSender } from './ports/webhook-sender.js';
import type { Webhooks } from './ports/webhooks.js';

interface Input {
  readonly webhookId: string;
  readonly alertId: string;
  readonly signal?: AbortSignal;
}

/** How an alert that has fired looks to a receiver; always the same for one alert. */
export type EventForm = (alert: Alert) => object;

/** One attempt to post an alert to a webhook. */
export class DeliverWebhook {
  constructor(
    private readonly webhooks: Webhooks,
    private readonly alerts: Alerts,
    private readonly sender: WebhookSender,
    private readonly form: EventForm,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Resolves when nothing is left to do. Throws where it is to be tried again later. */
  async execute({ webhookId, alertId, signal }: Input): Promise<void> {
    const opened = await this.webhooks.open(webhookId);
    const alert = await this.alerts.find(alertId);
    if (!opened?.webhook.enabled || !alert) return;
    const { webhook, secret } = opened;
    const at = this.clock.now();
    if (Webhook.isLeftAlone(webhook, at)) throw new NotDelivered('its receiver has not answered a moment ago');
    const body = JSON.stringify(this.form(alert));
    const outcome = await this.sender.post({ url: webhook.url, secret, id: alertId, body, sentAt: at }, signal);
    const delivery = { ...outcome, at, alertId };
    await this.webhooks.note(webhookId, delivery);
    const fields = { webhook_id: webhookId, alert_id: alertId, job_id: alert.jobId, ...outcome };
    if (outcome.error === null) return this.log.info('alert posted', fields);
    this.log.warn('alert not posted', fields);
    if (!Webhook.isGone(delivery)) throw new NotDelivered(outcome.error);
    this.log.warn('webhook disabled', fields);
  }
}

class NotDelivered extends Error {}
