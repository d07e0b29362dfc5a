import type { AlertNotifier } from '../../../src/application/alerts/ports.js';
import type { Alert } from '../../../src/domain/alerts/alert.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

/** Notes, while it is switched on, what it is told of. */
export class MemoryAlertNotifier implements AlertNotifier {
  on = false;
  private readonly rows;

  constructor(store: MemoryStore, name = 'announced_alerts') {
    this.rows = new MemoryTable<Alert>(store, name);
  }

  async announce(alerts: readonly Alert[]): Promise<void> {
    if (this.on) for (const alert of alerts) this.rows.put(`${this.rows.all().length}`, alert);
  }

  get announced(): Alert[] {
    return this.rows.all();
  }
}
