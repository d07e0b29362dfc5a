import type { Alert } from '../../../domain/alerts/alert.js';
import { port } from '../../shared/port.js';

/** A way in which people or programs hear of alerts. Off for everybody who has not switched it on. */
export interface AlertNotifier {
  /**
   * Has everybody who has switched it on told of these alerts, which have fired at once. Called in the transaction that
   * raises them, with one at least: it touches repositories only, and nobody is told before they are stored, or at all
   * where they are not. What it leaves in the database, other processes or a next start deliver: at least once for each
   * alert, and more than once only after a failure.
   */
  announce(alerts: readonly Alert[]): Promise<void>;
}
export const AlertNotifier = port<AlertNotifier>('alerts.AlertNotifier');
