import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Alert, AlertStatus } from '../../domain/alerts/alert.js';
import { NotFound } from '../../domain/shared/errors.js';
import { AlertRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  /** Null: whatever it is. */
  readonly status: AlertStatus | null;
  readonly page: { readonly limit: number; readonly after: string | null };
}

@injectable()
export class ReadAlerts {
  constructor(private readonly alerts: AlertRepository) {}

  /** Newest first. */
  async execute({ by, status, page }: Input): Promise<Alert[]> {
    authorize(by, permissions.readMonitoring);
    return this.alerts.list(status, page);
  }

  /** Throws NotFound. */
  async one(input: { by: Caller | null; id: string }): Promise<Alert> {
    authorize(input.by, permissions.readMonitoring);
    const alert = await this.alerts.find(input.id);
    if (!alert) throw new NotFound('alert');
    return alert;
  }
}
