import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Alert, AlertStatus } from '../../domain/alerts/alert.js';
import { MASTER } from '../../domain/jobs/job.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, type Page } from '../shared/ports.js';
import { AlertAnnouncer } from './alert-announcer.js';
import { AlertRepository } from './ports.js';

interface Listing {
  /** Only alerts of this status. Null: of every status. */
  readonly status: AlertStatus | null;
  readonly page: Page;
}

@injectable()
export class AlertService {
  constructor(
    private readonly alerts: AlertRepository,
    private readonly announcer: AlertAnnouncer,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Returns the alerts, newest first. */
  async list(by: Caller | null, { status, page }: Listing): Promise<Alert[]> {
    authorize(by, permissions.readMonitoring);
    return this.alerts.list(status, page);
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { id }: { id: string }): Promise<Alert> {
    authorize(by, permissions.readMonitoring);
    return this.find(id);
  }

  /** Acknowledges an alert. A second acknowledgement changes nothing. Throws NotFound. */
  async acknowledge(by: Caller | null, { id, note }: { id: string; note: string | null }): Promise<Alert> {
    const caller = authorize(by, permissions.manageMonitoring);
    const accountId = caller.kind === 'master' ? MASTER : caller.accountId;
    const { title } = await this.find(id);
    await this.audit.perform({ by: caller, action: 'alert.acknowledged', object: { id, name: title } }, async () => {
      const isFirst = await this.alerts.acknowledge(id, { at: this.clock.now(), by: accountId, note });
      if (isFirst) await this.announcer.acknowledged(await this.find(id));
      return isFirst;
    });
    return this.find(id);
  }

  private async find(id: string): Promise<Alert> {
    const alert = await this.alerts.find(id);
    if (!alert) throw new NotFound('alert');
    return alert;
  }
}
