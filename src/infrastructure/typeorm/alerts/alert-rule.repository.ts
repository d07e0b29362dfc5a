import { injectable } from 'inversify';
import type { AlertRuleRepository } from '../../../application/alerts/ports.js';
import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const AlertRuleTable = defineTable<AlertRule>({
  name: 'AlertRule',
  tableName: 'alert_rules',
  columns: {
    id: { type: 'text', primary: true },
    name: { type: 'text' },
    ruleType: { type: 'text', name: 'rule_type' },
    threshold: { type: 'double precision' },
    jobKind: { type: 'text', name: 'job_kind', nullable: true },
    severity: { type: 'text' },
    enabled: { type: 'boolean' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    failuresInARow: { type: 'integer', name: 'failures_in_a_row' },
    firedInRun: { type: 'boolean', name: 'fired_in_run' },
  },
});

@injectable()
export class TypeOrmAlertRuleRepository implements AlertRuleRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(rule: AlertRule): Promise<void> {
    await this.table.insert(rule);
  }

  find(id: string): Promise<AlertRule | null> {
    return this.table.findOneBy({ id });
  }

  all(): Promise<AlertRule[]> {
    return this.table.find({ order: { id: 'DESC' } });
  }

  async save(rules: readonly AlertRule[]): Promise<void> {
    for (const { id, ...change } of rules) await this.table.update({ id }, change);
  }

  async remove(id: string): Promise<boolean> {
    const { affected } = await this.table.delete({ id });
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.repository(AlertRuleTable);
  }
}
