import type { AlertNotifier } from '../../application/alerts/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';

/** All the ways there are, as one. */
export class EveryNotifier implements AlertNotifier {
  private readonly notifiers: readonly AlertNotifier[];

  constructor(...notifiers: AlertNotifier[]) {
    this.notifiers = notifiers;
  }

  async announce(alerts: readonly Alert[]): Promise<void> {
    for (const notifier of this.notifiers) await notifier.announce(alerts);
  }
}
