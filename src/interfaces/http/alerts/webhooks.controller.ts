import { injectable } from 'inversify';
import type { z } from 'zod';
import { CreateWebhook } from '../../../application/alerts/create-webhook.js';
import { DeleteWebhook } from '../../../application/alerts/delete-webhook.js';
import { ListWebhooks } from '../../../application/alerts/list-webhooks.js';
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
      const webhooks = (await this.listWebhooks.execute({ by: caller })).map(webhookAnswer);
      return { webhooks, count: webhooks.length };
    }),
    route(contracts.createWebhook, async ({ caller, body }) => {
      const { webhook, secret } = await this.createWebhook.execute({ by: caller, url: body.url });
      return { ...webhookAnswer(webhook), secret };
    }),
    route(contracts.deleteWebhook, async ({ caller, params }) => {
      await this.deleteWebhook.execute({ by: caller, id: params.webhook_id });
      return deleted(params.webhook_id);
    }),
  ];

  constructor(
    private readonly listWebhooks: ListWebhooks,
    private readonly createWebhook: CreateWebhook,
    private readonly deleteWebhook: DeleteWebhook,
  ) {}
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

/** The alert as it was when it fired: whoever acknowledges it between two attempts changes nothing. */
export const alertFired = (alert: Alert): z.input<typeof contracts.AlertFired> => ({
  type: 'alert.fired',
  timestamp: alert.createdAt.toISOString(),
  data: alertAnswer({ ...alert, ackedAt: null, ackedBy: null, note: null }),
});
