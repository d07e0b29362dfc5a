import { injectable } from 'inversify';
import type { z } from 'zod';
import { WebhookService } from '../../../application/alerts/webhook.service.js';
import type { Alert } from '../../../domain/alerts/alert.js';
import type { Delivery, Webhook } from '../../../domain/alerts/webhook.js';
import { answerFrom, deleted, listed } from '../answers.js';
import { type Controller, type Existence, route } from '../contract.js';
import { seconds } from '../schemas.js';
import { alertAnswer } from './alerts.controller.js';
import * as contracts from './webhooks.contract.js';

@injectable()
export class WebhooksController implements Controller {
  readonly routes = [
    route(contracts.listWebhooks, async ({ caller }) =>
      listed('webhooks', (await this.webhooks.list(caller)).map(webhookAnswer)),
    ),
    route(contracts.createWebhook, async ({ caller, body }) => {
      const { webhook, secret } = await this.webhooks.create(caller, { url: body.url });
      return { ...webhookAnswer(webhook), secret };
    }),
    route(contracts.testWebhook, async ({ caller, params: { webhook_id: id } }) => {
      const { at, ...outcome } = await this.webhooks.test(caller, { id });
      return { at: seconds(at), ...outcome };
    }),
    route(contracts.sendAlertAgain, async ({ caller, params: { webhook_id: id }, body: { alert_id: alertId } }) =>
      deliveryAnswer(await this.webhooks.sendAgain(caller, { id, alertId, bodyOf: alertFired })),
    ),
    route(contracts.deleteWebhook, ({ caller, params: { webhook_id: id } }) =>
      deleted(id, this.webhooks.delete(caller, { id })),
    ),
  ];

  readonly exists: Existence<'webhook_id'> = {
    webhook_id: ({ caller, params }) => this.webhooks.requireWebhook(caller, { id: params.webhook_id }),
  };

  constructor(private readonly webhooks: WebhookService) {}
}

const deliveryAnswer = (delivery: Delivery) => answerFrom(contracts.sendAlertAgain.answer, delivery, {});

const webhookAnswer = (webhook: Webhook) => {
  const deliveries = webhook.deliveries.map(deliveryAnswer);
  const element = contracts.listWebhooks.answer.shape.webhooks.element;
  return answerFrom(element, webhook, { deliveries, last_delivery: deliveries[0] ?? null });
};

/** Returns the alert as it fired. A later acknowledgement does not change it, so every attempt sends the same body. */
export const alertFired = (alert: Alert): z.input<typeof contracts.AlertFired> => ({
  type: 'alert.fired',
  timestamp: alert.createdAt.toISOString(),
  data: alertAnswer({ ...alert, ackedAt: null, ackedBy: null, note: null }),
});
