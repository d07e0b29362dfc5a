import { injectable } from 'inversify';
import { Webhook } from '../../domain/alerts/webhook.js';
import { Clock, Logger } from '../shared/ports.js';
import { AlertEventFormat, AlertRepository, WebhookRepository, WebhookSender } from './ports.js';

interface Input {
  readonly webhookId: string;
  readonly alertId: string;
  readonly signal?: AbortSignal;
}

/** One attempt to post an alert to a webhook. */
@injectable()
export class DeliverWebhook {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly alerts: AlertRepository,
    private readonly sender: WebhookSender,
    private readonly format: AlertEventFormat,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Resolves when nothing is left to do. Throws where it is to be tried again later. */
  async execute({ webhookId, alertId, signal }: Input): Promise<void> {
    const opened = await this.webhooks.open(webhookId);
    const alert = await this.alerts.find(alertId);
    if (!opened?.webhook.enabled || !alert) return;
    const { webhook, secret } = opened;
    const at = this.clock.now();
    if (Webhook.isLeftAlone(webhook, at)) throw new NotDelivered('its receiver has not answered a moment ago');
    const body = JSON.stringify(this.format.body(alert));
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
