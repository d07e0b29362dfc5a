import { injectable } from 'inversify';
import type { Alert } from '../../domain/alerts/alert.js';
import { Webhook } from '../../domain/alerts/webhook.js';
import { Clock, Logger, type TaskWorker, UnitOfWork, WorkQueue } from '../shared/ports.js';
import { AlertRepository, WebhookRepository, WebhookSender } from './ports.js';

/** Names the task that makes one delivery task for each pair of an alert and a webhook. */
export const FAN_OUT = 'spread alerts';
/** Names the task that posts one alert to one webhook. */
const DELIVERY = 'post alert';

/** The pauses between attempts grow from seconds to six hours. The last attempt is a day and a half after the first. */
const ATTEMPTS = 15;
const AT_ONCE = 8;

type Batch = { readonly webhookIds: readonly string[]; readonly alertIds: readonly string[] };
type Delivery = { readonly webhookId: string; readonly alertId: string };
type BodyOf = (alert: Alert) => object;

class NotDelivered extends Error {}

/** Delivers alerts to webhooks with the work queue, so that a failing receiver delays no other delivery. */
@injectable()
export class WebhookDelivery {
  constructor(
    private readonly queue: WorkQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly webhooks: WebhookRepository,
    private readonly alerts: AlertRepository,
    private readonly sender: WebhookSender,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Registers the two tasks. Must be called before the queue starts. `bodyOf` must be deterministic. */
  register(bodyOf: BodyOf): void {
    this.queue.register(FAN_OUT, this.fanOut);
    this.queue.register(DELIVERY, {
      atOnce: AT_ONCE,
      run: (payload, { signal }) => this.deliver(payload as Delivery, bodyOf, signal),
      gaveUp: async (payload, reason) => {
        const { webhookId, alertId } = payload as Delivery;
        this.logger.error('alert given up', { webhook_id: webhookId, alert_id: alertId, reason });
      },
    });
  }

  private readonly fanOut: TaskWorker = {
    atOnce: 1,
    run: async (payload) => {
      const { webhookIds, alertIds } = payload as Batch;
      await this.unitOfWork.run(async () => {
        for (const alertId of alertIds) {
          for (const webhookId of webhookIds) {
            const key = `${DELIVERY} ${alertId} ${webhookId}`;
            await this.queue.enqueue(DELIVERY, { webhookId, alertId }, { key, maxAttempts: ATTEMPTS });
          }
        }
      });
    },
    gaveUp: async (payload, reason) => this.logger.error('alerts given up', { ...(payload as Batch), reason }),
  };

  /** Makes one attempt. Resolves if nothing is left to do. Throws if the queue must retry. */
  private async deliver({ webhookId, alertId }: Delivery, bodyOf: BodyOf, signal: AbortSignal): Promise<void> {
    const opened = await this.webhooks.open(webhookId);
    const alert = await this.alerts.find(alertId);
    if (!opened?.webhook.enabled || !alert) return;
    const { webhook, secret } = opened;
    const at = this.clock.now();
    if (Webhook.isPaused(webhook, at)) throw new NotDelivered('its receiver did not answer a moment ago');
    const body = JSON.stringify(bodyOf(alert));
    const outcome = await this.sender.post({ url: webhook.url, secret, id: alertId, body, sentAt: at }, signal);
    const delivery = { ...outcome, at, alertId };
    await this.webhooks.note(webhookId, delivery);
    const fields = { webhook_id: webhookId, alert_id: alertId, job_id: alert.jobId, ...outcome };
    if (outcome.error === null) return this.logger.info('alert posted', fields);
    this.logger.warn('alert not posted', fields);
    if (!Webhook.isGone(delivery)) throw new NotDelivered(outcome.error);
    this.logger.warn('webhook disabled', fields);
  }
}
