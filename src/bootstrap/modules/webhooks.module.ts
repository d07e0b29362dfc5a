import { ContainerModule } from 'inversify';
import { CreateWebhook } from '../../application/alerts/create-webhook.js';
import { DeleteWebhook } from '../../application/alerts/delete-webhook.js';
import { DeliverWebhook } from '../../application/alerts/deliver-webhook.js';
import { ListWebhooks } from '../../application/alerts/list-webhooks.js';
import { Alerts } from '../../application/alerts/ports/alerts.js';
import { WebhookSender } from '../../application/alerts/ports/webhook-sender.js';
import { Webhooks } from '../../application/alerts/ports/webhooks.js';
import { PostAlerts } from '../../application/alerts/post-alerts.js';
import { Audit } from '../../application/audit/audit.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { Log } from '../../application/shared/ports/log.js';
import { UnitOfWork } from '../../application/shared/ports/unit-of-work.js';
import { WorkQueue } from '../../application/shared/ports/work-queue.js';
import { Sealer } from '../../infrastructure/crypto/sealer.js';
import { TypeOrmWebhooks } from '../../infrastructure/typeorm/alerts/typeorm-webhooks.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import { AddressGuard } from '../../infrastructure/webhooks/address-guard.js';
import { HttpWebhookSender } from '../../infrastructure/webhooks/http-webhook-sender.js';
import { alertFired, WebhooksController } from '../../interfaces/http/alerts/webhooks.controller.js';
import type { Config } from '../config/config.js';
import { provide, provideValue } from '../provide.js';
import { FiredForm, WebhookSealer } from '../tokens.js';

/** Where alerts are posted to, and how. */
export const webhooksModule = ({ webhookNetworks }: Config, secret: string) =>
  new ContainerModule((module) => {
    provideValue(module, WebhookSealer, new Sealer(secret, 'webhooks'));
    provideValue(module, FiredForm, alertFired);
    provideValue(module, WebhookSender, new HttpWebhookSender(new AddressGuard(webhookNetworks)));
    provide(module, Webhooks, TypeOrmWebhooks, [TypeOrmUnitOfWork, WebhookSealer]);
    provide(module, CreateWebhook, CreateWebhook, [UnitOfWork, Webhooks, WebhookSender, Audit, Identifiers, Clock]);
    provide(module, ListWebhooks, ListWebhooks, [Webhooks]);
    provide(module, DeleteWebhook, DeleteWebhook, [Webhooks, Audit]);
    provide(module, DeliverWebhook, DeliverWebhook, [Webhooks, Alerts, WebhookSender, FiredForm, Clock, Log]);
    provide(module, PostAlerts, PostAlerts, [WorkQueue, UnitOfWork, DeliverWebhook, Log]);
    provide(module, WebhooksController, WebhooksController, [ListWebhooks, CreateWebhook, DeleteWebhook]);
  });
