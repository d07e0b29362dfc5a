import type { AlertRuleRepository } from '../../../src/application/alerts/ports.js';
import type { AlertRule } from '../../../src/domain/alerts/alert-rule.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryAlertRuleRepository implements AlertRuleRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<AlertRule>(store, 'alert_rules');
  }

  async add(rule: AlertRule): Promise<void> {
    this.rows.put(rule.id, rule);
  }

  async find(id: string): Promise<AlertRule | null> {
    return this.rows.get(id);
  }

  async all(): Promise<AlertRule[]> {
    return this.rows.all().sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async save(rules: readonly AlertRule[]): Promise<void> {
    for (const rule of rules) if (this.rows.get(rule.id)) this.rows.put(rule.id, rule);
  }

  async remove(id: string): Promise<boolean> {
    return this.rows.remove(id);
  }
}
