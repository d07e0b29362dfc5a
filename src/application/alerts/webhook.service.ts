import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions, permitted } from '../../domain/accounts/permission.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { type Delivery, Webhook, webhookLimits } from '../../domain/alerts/webhook.js';
import { MASTER } from '../../domain/jobs/job.js';
import { LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Authority } from '../accounts/authority.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { AlertRepository, WebhookRepository, WebhookSender } from './ports.js';

type Outcome = Pick<Delivery, 'at' | 'status' | 'error'>;

interface Resending {
  readonly id: string;
  readonly alertId: string;
  readonly bodyOf: (alert: Alert) => object;
}

@injectable()
export class WebhookService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly webhooks: WebhookRepository,
    private readonly alerts: AlertRepository,
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

  /** Throws NotFound. */
  async requireWebhook(by: Caller | null, { id }: { id: string }): Promise<void> {
    authorize(by, permissions.readMonitoring);
    await this.find(id);
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
  async test(by: Caller | null, { id }: { id: string }): Promise<Outcome> {
    authorize(by, permissions.manageMonitoring);
    const event = { type: 'webhook.test', timestamp: this.clock.now().toISOString(), data: { webhook_id: id } };
    return this.post(await this.find(id), this.ids.next('msg'), event);
  }

  /**
   * Posts an alert once more, without a retry, and stores the outcome as a delivery. `bodyOf` returns what is posted.
   * Throws NotFound.
   */
  async sendAgain(by: Caller | null, { id, alertId, bodyOf }: Resending): Promise<Delivery> {
    const caller = authorize(by, permissions.manageMonitoring);
    const webhook = await this.find(id);
    const alert = await this.alerts.find(alertId);
    if (!alert) throw new NotFound('alert');
    const object = Webhook.named(webhook);
    const details = { alert_id: alertId };
    await this.unitOfWork.run(() =>
      this.audit.record({ by: caller, action: 'webhook.alert_sent_again', object, details }),
    );
    const delivery = { ...(await this.post(webhook, alertId, bodyOf(alert))), alertId };
    await this.webhooks.note(id, delivery);
    return delivery;
  }

  /** Posts at once to a webhook that is enabled. */
  private async post({ id, url, enabled }: Webhook, messageId: string, event: object): Promise<Outcome> {
    const at = this.clock.now();
    const failed = (error: string) => ({ at, status: null, error });
    if (!enabled) return failed('the webhook is disabled, because its receiver has answered 410');
    if (url === '') return failed('the service has another secret now: delete the webhook and add it again');
    const opened = await this.webhooks.open(id);
    if (!opened) throw new NotFound('webhook');
    const message = { url, secret: opened.secret, id: messageId, body: JSON.stringify(event), sentAt: at };
    return { ...(await this.sender.post(message)), at };
  }

  /** Deletes a webhook together with its waiting deliveries. Throws NotFound. */
  async delete(by: Caller | null, { id }: { id: string }): Promise<void> {
    const caller = authorize(by, permissions.manageMonitoring);
    const webhook = await this.find(id);
    const act = { by: caller, action: 'webhook.deleted', object: Webhook.named(webhook) } as const;
    if (!(await this.audit.perform(act, () => this.webhooks.remove(id)))) throw new NotFound('webhook');
  }

  private async find(id: string): Promise<Webhook> {
    const webhook = (await this.webhooks.all()).find((one) => one.id === id);
    if (!webhook) throw new NotFound('webhook');
    return webhook;
  }
}
