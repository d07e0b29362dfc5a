import type { Alert, AlertStatus } from '../../../domain/alerts/alert.js';
import { port } from '../../shared/port.js';

export interface Acknowledgement {
  readonly at: Date;
  readonly by: string;
  readonly note: string | null;
}

export interface Alerts {
  /** Of a rule and a job there is one alert at most. */
  add(alerts: readonly Alert[]): Promise<void>;
  find(id: string): Promise<Alert | null>;
  /** Newest first, beginning after the id `after`; null: whatever their status. */
  list(status: AlertStatus | null, page: { readonly limit: number; readonly after: string | null }): Promise<Alert[]>;
  /** Notes the acknowledgement; false, and nothing changes, for an alert that has one already or is not there. */
  acknowledge(id: string, acknowledgement: Acknowledgement): Promise<boolean>;
}
export const Alerts = port<Alerts>('alerts.Alerts');
