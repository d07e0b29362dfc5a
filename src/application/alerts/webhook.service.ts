import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions, permitted } from '../../domain/accounts/permission.js';
import { type Delivery, Webhook, webhookLimits } from '../../domain/alerts/webhook.js';
import { MASTER } from '../../domain/jobs/job.js';
import { LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Authority } from '../accounts/authority.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { WebhookRepository, WebhookSender } from './ports.js';

@injectable()
export class WebhookService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly webhooks: WebhookRepository,
    private readonly sender: WebhookSender,
    private readonly authority: Authority,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Returns all webhooks, oldest first. A caller who may only read gets the origin of each URL. */
  async list(by: Caller | null): Promise<Webhook[]> {
    const caller = authorize(by, permissions.readMonitoring);
    const webhooks = await this.webhooks.all();
    if (permitted(caller).manageMonitoring) return webhooks;
    return webhooks.map((webhook) => ({ ...webhook, url: Webhook.origin(webhook) }));
  }

  /** Creates a webhook for later alerts. Only this call returns its secret. Throws InvalidRequest, LimitReached. */
  async create(by: Caller | null, { url }: { url: string }): Promise<{ webhook: Webhook; secret: string }> {
    const caller = authorize(by, permissions.manageMonitoring);
    const createdBy = caller.kind === 'master' ? MASTER : caller.accountId;
    const webhook = Webhook.create({ id: this.ids.next('whk'), url, createdBy, createdAt: this.clock.now() });
    await this.sender.check(webhook.url);
    const secret = this.sender.newSecret();
    await this.unitOfWork.run(async () => {
      await this.authority.confirm(by, permissions.manageMonitoring); // the check of the URL may have taken seconds
      const { webhooks: most } = webhookLimits;
      if ((await this.webhooks.all()).length >= most) throw new LimitReached(most, 'webhooks');
      await this.webhooks.add(webhook, secret);
      await this.audit.record({ by: caller, action: 'webhook.created', object: Webhook.named(webhook) });
    });
    return { webhook, secret };
  }

  /** Posts a signed test event once and returns the outcome. Stores nothing. Throws NotFound. */
  async test(by: Caller | null, { id }: { id: string }): Promise<Pick<Delivery, 'at' | 'status' | 'error'>> {
    authorize(by, permissions.manageMonitoring);
    const found = (await this.webhooks.all()).find((one) => one.id === id);
    if (!found) throw new NotFound('webhook');
    const at = this.clock.now();
    const failed = (error: string) => ({ at, status: null, error });
    if (!found.enabled) return failed('the webhook is disabled, because its receiver has answered 410');
    if (found.url === '') return failed('the webhook was stored under another SERVICE_SECRET');
    const opened = await this.webhooks.open(id);
    if (!opened) throw new NotFound('webhook');
    const body = JSON.stringify({ type: 'webhook.test', timestamp: at.toISOString(), data: { webhook_id: id } });
    const message = { url: opened.webhook.url, secret: opened.secret, id: this.ids.next('msg'), body, sentAt: at };
    return { ...(await this.sender.post(message)), at };
  }

  /** Deletes a webhook together with its waiting deliveries. Throws NotFound. */
  async delete(by: Caller | null, { id }: { id: string }): Promise<void> {
    const caller = authorize(by, permissions.manageMonitoring);
    const webhook = (await this.webhooks.all()).find((one) => one.id === id);
    if (!webhook) throw new NotFound('webhook');
    const act = { by: caller, action: 'webhook.deleted', object: Webhook.named(webhook) } as const;
    if (!(await this.audit.perform(act, () => this.webhooks.remove(id)))) throw new NotFound('webhook');
  }
}
