import { ContainerModule } from 'inversify';
import { Accounts } from '../../application/accounts/ports/accounts.js';
import { Links } from '../../application/accounts/ports/links.js';
import { Teams } from '../../application/accounts/ports/teams.js';
import { AlertNotifier } from '../../application/alerts/ports/alert-notifier.js';
import { Webhooks } from '../../application/alerts/ports/webhooks.js';
import { Outbox } from '../../application/mail/ports/outbox.js';
import { Clock } from '../../application/shared/ports/clock.js';
import { Identifiers } from '../../application/shared/ports/identifiers.js';
import { WorkQueue } from '../../application/shared/ports/work-queue.js';
import { EveryNotifier } from '../../infrastructure/notifiers/every-notifier.js';
import { MailNotifier } from '../../infrastructure/notifiers/mail-notifier.js';
import { WebhookNotifier } from '../../infrastructure/notifiers/webhook-notifier.js';
import { provide } from '../provide.js';

/** The ways in which alerts are announced. */
export const notifiersModule = () =>
  new ContainerModule((module) => {
    provide(module, MailNotifier, MailNotifier, [Teams, Accounts, Outbox, Links, Identifiers, Clock]);
    provide(module, WebhookNotifier, WebhookNotifier, [Webhooks, WorkQueue]);
    provide(module, AlertNotifier, EveryNotifier, [MailNotifier, WebhookNotifier]);
  });
