import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { webhookLimits } from '../../../domain/alerts/webhook.js';
import { contractsOf } from '../contract.js';
import { listOf } from '../paging.js';
import { ActorId, Deleted, id, idText, intLike, namedObject, Timestamp, text, textLike } from '../schemas.js';
import { AlertAnswer } from './alerts.contract.js';

const api = contractsOf('Monitoring');
const path = '/v1/alerts/webhooks';

const outcome = {
  at: Timestamp,
  status: intLike(200, 'The HTTP status of the answer. Null if there was none.').nullable(),
};

const DeliveryAnswer = namedObject('WebhookDelivery', {
  ...outcome,
  alert_id: id('alr'),
  error: z.string().nullable().meta({ description: 'Null if the alert was delivered.', example: null }),
});

const WebhookAnswer = namedObject('Webhook', {
  id: id('whk'),
  url: textLike(
    'https://hooks.example.com/tenon',
    'Members see only scheme, host and port. Empty if it was stored under another `SERVICE_SECRET`: then delete it.',
  ),
  enabled: z.boolean().describe('False once the receiver has answered 410. Then nothing more is posted to it.'),
  created_by: ActorId,
  created_at: Timestamp,
  last_delivery: DeliveryAnswer.nullable().describe('The last attempt. Null before the first one.'),
  deliveries: z
    .array(DeliveryAnswer)
    .describe(`The last ${webhookLimits.deliveries} attempts, newest first. Several may be of the same alert.`),
});

export const listWebhooks = api.get(path, {
  id: 'listWebhooks',
  summary: 'List the webhooks, oldest first',
  access: permissions.readMonitoring,
  answer: listOf('webhooks', WebhookAnswer, 'Webhooks'),
});

export const createWebhook = api.post(path, {
  id: 'createWebhook',
  summary: 'Create a webhook that posts alerts to a URL',
  description:
    'Posts each alert that fires from now on as an `alert.fired` event, in the form of the Standard Webhooks ' +
    'specification. `webhook-id` is the id of the alert, the same for each attempt. `webhook-signature` is `v1,` and the ' +
    'HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64, keyed with `secret`. An answer of 200 to 299 ' +
    'within 10 seconds is a success, and 410 disables the webhook. Any other outcome is retried with back-off for more ' +
    'than a day. Redirects are not followed. The URL must be https, and its host must resolve to a public address, ' +
    'unless `SERVICE_WEBHOOK_ALLOW_NETWORKS` names its network. ' +
    `There are at most ${webhookLimits.webhooks} webhooks.`,
  access: permissions.manageMonitoring,
  body: namedObject('NewWebhook', {
    url: text().meta({
      description: `At most ${webhookLimits.url} characters, without user name, password and fragment.`,
      maxLength: webhookLimits.url,
      format: 'uri',
      pattern: '^https?://[^\\s/@#]+(/[^\\s#]*)?$',
      example: 'https://hooks.example.com/tenon',
    }),
  }),
  status: 201,
  answer: WebhookAnswer.extend({
    secret: textLike(`whsec_${'Example'.repeat(6)}a=`, 'The key of the signatures. Shown only once.'),
  }).meta({ id: 'CreatedWebhook' }),
});

export const testWebhook = api.post(`${path}/{webhook_id}/test`, {
  id: 'testWebhook',
  summary: 'Post a test event to a webhook',
  description:
    'Posts one signed event `{"type": "webhook.test", "timestamp", "data": {"webhook_id"}}` at once, without a retry, and ' +
    'answers the outcome. Nothing is posted to a disabled webhook. `last_delivery` does not change.',
  access: permissions.manageMonitoring,
  status: 200,
  answer: namedObject('WebhookTest', {
    ...outcome,
    error: z.string().nullable().meta({ description: 'Null if the event was delivered.', example: null }),
  }),
});

export const sendAlertAgain = api.post(`${path}/{webhook_id}/deliveries`, {
  id: 'sendAlertAgain',
  summary: 'Post an alert to a webhook again',
  description:
    'Posts the same event as the first attempt at once, without a retry, and answers the outcome, which becomes ' +
    '`last_delivery`. Nothing is posted to a disabled webhook. Retries of earlier attempts go on.',
  access: permissions.manageMonitoring,
  body: namedObject('NewWebhookDelivery', { alert_id: idText('alr') }),
  status: 201,
  answer: DeliveryAnswer,
});

export const deleteWebhook = api.delete(`${path}/{webhook_id}`, {
  id: 'deleteWebhook',
  summary: 'Delete a webhook',
  description: 'Nothing more is posted to it. Waiting alerts are dropped.',
  access: permissions.manageMonitoring,
  answer: Deleted,
});

/** Describes the event that is posted to webhooks. */
export const AlertFired = namedObject('AlertFired', {
  type: z.literal('alert.fired'),
  timestamp: z.iso
    .datetime()
    .meta({ description: 'The time at which the alert fired.', example: '2026-03-01T12:30:15.123Z' }),
  data: AlertAnswer,
});
