import type { Acknowledgement, AlertRepository } from '../../../src/application/alerts/ports.js';
import { Alert, type AlertStatus } from '../../../src/domain/alerts/alert.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryAlertRepository implements AlertRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Alert>(store, 'alerts');
  }

  async add(alerts: readonly Alert[]): Promise<void> {
    for (const alert of alerts) {
      const { ruleId, jobId } = alert;
      const known = this.rows.find((one) => one.ruleId === ruleId && one.jobId === jobId);
      if (!known) this.rows.put(alert.id, alert);
    }
  }

  async find(id: string): Promise<Alert | null> {
    return this.rows.get(id);
  }

  async list(status: AlertStatus | null, { limit, after }: Parameters<AlertRepository['list']>[1]): Promise<Alert[]> {
    const listed = this.rows
      .all()
      .filter((alert) => status === null || Alert.status(alert) === status)
      .filter(({ id }) => after === null || id < after);
    return listed.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }

  async acknowledge(id: string, { at, by, note }: Acknowledgement): Promise<boolean> {
    const alert = this.rows.get(id);
    if (!alert || alert.ackedAt) return false;
    this.rows.put(id, { ...alert, ackedAt: at, ackedBy: by, note });
    return true;
  }
}
