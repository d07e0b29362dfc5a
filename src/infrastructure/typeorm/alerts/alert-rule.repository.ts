import { injectable } from 'inversify';
import { EntitySchema } from 'typeorm';
import type { AlertRuleRepository } from '../../../application/alerts/ports.js';
import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const AlertRuleTable = new EntitySchema<AlertRule>({
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

/** Without the ORM, since every job that finishes asks for them. */
const ALL = `
  SELECT id, name, rule_type AS "ruleType", threshold, job_kind AS "jobKind", severity, enabled, created_at AS "createdAt",
         failures_in_a_row AS "failuresInARow", fired_in_run AS "firedInRun"
    FROM alert_rules ORDER BY id DESC`;

const SAVE = `
  UPDATE alert_rules
     SET name = new.name, threshold = new.threshold, severity = new.severity, enabled = new.enabled,
         failures_in_a_row = new."failuresInARow", fired_in_run = new."firedInRun"
    FROM json_to_recordset($1::json) AS new (id text, name text, threshold double precision, severity text,
         enabled boolean, "failuresInARow" integer, "firedInRun" boolean)
   WHERE alert_rules.id = new.id`;

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
    return this.unitOfWork.prepared<AlertRule>('alert-rules-all', ALL, []);
  }

  async save(rules: readonly AlertRule[]): Promise<void> {
    await this.unitOfWork.prepared('alert-rules-save', SAVE, [JSON.stringify(rules)]);
  }

  async remove(id: string): Promise<boolean> {
    const { affected } = await this.table.delete({ id });
    return affected === 1;
  }

  private get table() {
    return this.unitOfWork.table(AlertRuleTable);
  }
}
