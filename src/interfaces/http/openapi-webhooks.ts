import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { AlertFired } from './alerts/webhooks.contract.js';
import { id } from './schemas.js';

/** What receivers are sent, as they would describe it. */
export const alertFired: RouteConfig = {
  method: 'post',
  path: 'alertFired',
  operationId: 'alertFired',
  tags: ['Monitoring'],
  summary: 'An alert has fired',
  description: 'Posted to every webhook; see `POST /v1/alerts/webhooks`.',
  security: [],
  request: {
    headers: z.object({
      'webhook-id': id('alr').meta({ description: 'The id of the alert, the same for each attempt' }),
      'webhook-timestamp': z
        .string()
        .meta({ description: 'When this attempt was made, in seconds since the epoch', example: '1772368215' }),
      'webhook-signature': z.string().meta({
        description: '`v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64',
        example: `v1,${'Example'.repeat(6)}a=`,
      }),
    }),
    body: { required: true, content: { 'application/json': { schema: AlertFired } } },
  },
  responses: {
    200: { description: 'Delivered, like any status of 200 to 299' },
    410: { description: 'Nothing is posted here again' },
  },
};
