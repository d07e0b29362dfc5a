import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { TooManyWebhooks } from '../../domain/alerts/errors.js';
import { Webhook, webhookLimits } from '../../domain/alerts/webhook.js';
import { MASTER } from '../../domain/jobs/job.js';
import { Audit } from '../audit/audit.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { WebhookRepository, WebhookSender } from './ports.js';

/** From now on alerts that fire are posted to it. */
@injectable()
export class CreateWebhook {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** The secret is told this once. Throws InvalidRequest. */
  async execute(input: { by: Caller | null; url: string }): Promise<{ webhook: Webhook; secret: string }> {
    const caller = authorize(input.by, permissions.manageMonitoring);
    const createdBy = caller.kind === 'master' ? MASTER : caller.accountId;
    const { url } = input;
    const webhook = Webhook.create({ id: this.ids.next('whk'), url, createdBy, createdAt: this.clock.now() });
    await this.sender.check(webhook.url);
    const secret = this.sender.newSecret();
    await this.unitOfWork.run(async () => {
      const { webhooks: most } = webhookLimits;
      if ((await this.webhooks.all()).length >= most) throw new TooManyWebhooks(most);
      await this.webhooks.add(webhook, secret);
      await this.audit.record({ by: caller, action: 'webhook.created', object: Webhook.named(webhook) });
    });
    return { webhook, secret };
  }
}
