import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { MASTER } from '../../domain/jobs/job.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { Clock } from '../shared/ports.js';
import { AlertRepository } from './ports.js';

/** Says that somebody has seen to it. Once more changes nothing: who was first, when, and with what note, stays. */
@injectable()
export class AcknowledgeAlert {
  constructor(
    private readonly alerts: AlertRepository,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws NotFound. */
  async execute(input: { by: Caller | null; id: string; note: string | null }): Promise<Alert> {
    const caller = authorize(input.by, permissions.manageMonitoring);
    const by = caller.kind === 'master' ? MASTER : caller.accountId;
    const found = await this.find(input.id);
    const object = { id: found.id, name: found.title };
    await this.audit.perform({ by: caller, action: 'alert.acknowledged', object }, () =>
      this.alerts.acknowledge(input.id, { at: this.clock.now(), by, note: input.note }),
    );
    return this.find(input.id);
  }

  private async find(id: string): Promise<Alert> {
    const alert = await this.alerts.find(id);
    if (!alert) throw new NotFound('alert');
    return alert;
  }
}
