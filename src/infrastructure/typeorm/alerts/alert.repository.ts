import { injectable } from 'inversify';
import { IsNull, LessThan, Not } from 'typeorm';
import type { Acknowledgement, AlertRepository, AlertRuleRepository } from '../../../application/alerts/ports.js';
import type { Alert, AlertStatus } from '../../../domain/alerts/alert.js';
import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const AlertTable = defineTable<Alert>({
  name: 'Alert',
  tableName: 'alerts',
  columns: {
    id: { type: 'text', primary: true },
    ruleId: { type: 'text', name: 'rule_id' },
    ruleName: { type: 'text', name: 'rule_name' },
    ruleType: { type: 'text', name: 'rule_type' },
    severity: { type: 'text' },
    title: { type: 'text' },
    message: { type: 'text' },
    jobId: { type: 'text', name: 'job_id' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    ackedAt: { type: 'timestamptz', name: 'acked_at', nullable: true },
    ackedBy: { type: 'text', name: 'acked_by', nullable: true },
    note: { type: 'text', nullable: true },
  },
});

@injectable()
export class TypeOrmAlertRepository implements AlertRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(alerts: readonly Alert[]): Promise<void> {
    await this.table
      .createQueryBuilder()
      .insert()
      .values([...alerts])
      .orIgnore()
      .updateEntity(false)
      .execute();
  }

  find(id: string): Promise<Alert | null> {
    return this.table.findOneBy({ id });
  }

  list(status: AlertStatus | null, { limit, after }: Parameters<AlertRepository['list']>[1]): Promise<Alert[]> {
    const where = {
      ...(status !== null && { ackedAt: status === 'firing' ? IsNull() : Not(IsNull()) }),
      ...(after !== null && { id: LessThan(after) }),
    };
    return this.table.find({ where, order: { id: 'DESC' }, take: limit });
  }

  async acknowledge(id: string, { at, by, note }: Acknowledgement): Promise<boolean> {
    const { affected } = await this.table.update({ id, ackedAt: IsNull() }, { ackedAt: at, ackedBy: by, note });
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.repository(AlertTable);
  }
}

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
