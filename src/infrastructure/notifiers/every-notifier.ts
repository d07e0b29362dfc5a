import type { AlertNotifier } from '../../application/alerts/ports.js';

/** Combines notifiers into one that announces by each of them in turn. */
export const everyNotifier = (notifiers: readonly AlertNotifier[]): AlertNotifier => ({
  async announce(alerts) {
    for (const notifier of notifiers) await notifier.announce(alerts);
  },
});
