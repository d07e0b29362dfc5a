import { injectable } from 'inversify';
import type { z } from 'zod';
import { WebhookService } from '../../../application/alerts/webhook.service.js';
import type { Alert } from '../../../domain/alerts/alert.js';
import type { Webhook } from '../../../domain/alerts/webhook.js';
import { type AnswerOf, type Controller, route } from '../contract.js';
import { deleted, seconds } from '../schemas.js';
import { alertAnswer } from './alerts.controller.js';
import * as contracts from './webhooks.contract.js';

@injectable()
export class WebhooksController implements Controller {
  readonly routes = [
    route(contracts.listWebhooks, async ({ caller }) => {
      const webhooks = (await this.webhooks.list({ by: caller })).map(webhookAnswer);
      return { webhooks, count: webhooks.length };
    }),
    route(contracts.createWebhook, async ({ caller, body }) => {
      const { webhook, secret } = await this.webhooks.create({ by: caller, url: body.url });
      return { ...webhookAnswer(webhook), secret };
    }),
    route(contracts.deleteWebhook, async ({ caller, params }) => {
      await this.webhooks.delete({ by: caller, id: params.webhook_id });
      return deleted(params.webhook_id);
    }),
  ];

  constructor(private readonly webhooks: WebhookService) {}
}

type WebhookAnswer = AnswerOf<typeof contracts.listWebhooks>['webhooks'][number];

const webhookAnswer = ({ id, url, enabled, createdBy, createdAt, lastDelivery: last }: Webhook): WebhookAnswer => ({
  id,
  url,
  enabled,
  created_by: createdBy,
  created_at: seconds(createdAt),
  last_delivery: last && { at: seconds(last.at), alert_id: last.alertId, status: last.status, error: last.error },
});

/** Returns the alert as it fired. A later acknowledgement does not change it, so every attempt sends the same body. */
export const alertFired = (alert: Alert): z.input<typeof contracts.AlertFired> => ({
  type: 'alert.fired',
  timestamp: alert.createdAt.toISOString(),
  data: alertAnswer({ ...alert, ackedAt: null, ackedBy: null, note: null }),
});
