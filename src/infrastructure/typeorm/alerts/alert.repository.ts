import { injectable } from 'inversify';
import { IsNull, MoreThanOrEqual, Not } from 'typeorm';
import type {
  Acknowledgement,
  AlertMessage,
  AlertRepository,
  AlertRuleRepository,
} from '../../../application/alerts/ports.js';
import type { Page } from '../../../application/shared/ports.js';
import type { Alert, AlertStatus } from '../../../domain/alerts/alert.js';
import type { AlertRule } from '../../../domain/alerts/alert-rule.js';
import { changesOne, defineTable, newest } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const AlertTable = defineTable<Alert>('alerts', {
  id: { type: 'text', primary: true },
  ruleId: { type: 'text' },
  ruleName: { type: 'text' },
  ruleType: { type: 'text' },
  severity: { type: 'text' },
  title: { type: 'text' },
  message: { type: 'text' },
  jobId: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  ackedAt: { type: 'timestamptz', nullable: true },
  ackedBy: { type: 'text', nullable: true },
  note: { type: 'text', nullable: true },
});

export const AlertMessageTable = defineTable<AlertMessage>('alert_messages', {
  id: { type: 'text', primary: true },
  receiver: { type: 'text' },
  sentAt: { type: 'timestamptz' },
});

@injectable()
export class TypeOrmAlertRepository implements AlertRepository {
  private readonly table = () => this.unitOfWork.repository(AlertTable);
  private readonly messages = () => this.unitOfWork.repository(AlertMessageTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(alerts: readonly Alert[]): Promise<void> {
    await this.table()
      .createQueryBuilder()
      .insert()
      .values([...alerts])
      .orIgnore()
      .updateEntity(false)
      .execute();
  }

  find(id: string): Promise<Alert | null> {
    return this.table().findOneBy({ id });
  }

  list(status: AlertStatus | null, page: Page): Promise<Alert[]> {
    const where = status === null ? {} : { ackedAt: status === 'firing' ? IsNull() : Not(IsNull()) };
    return this.table().find(newest(where, page));
  }

  acknowledge(id: string, { at, by, note }: Acknowledgement): Promise<boolean> {
    return changesOne(this.table().update({ id, ackedAt: IsNull() }, { ackedAt: at, ackedBy: by, note }));
  }

  async addMessage(message: AlertMessage): Promise<boolean> {
    const insert = this.messages().createQueryBuilder().insert().values(message).orIgnore();
    const { raw } = await insert.returning('id').execute();
    return raw.length === 1;
  }

  countMessages(receiver: string, since: Date): Promise<number> {
    return this.messages().countBy({ receiver, sentAt: MoreThanOrEqual(since) });
  }

  async removeMessages(receiver: string, most: number): Promise<number> {
    const removed = await this.unitOfWork.query(
      `DELETE FROM alert_messages WHERE id = ANY (ARRAY(SELECT id FROM alert_messages WHERE receiver = $1 LIMIT $2))
       RETURNING id`,
      [receiver, most],
    );
    return removed.length;
  }
}

export const AlertRuleTable = defineTable<AlertRule>('alert_rules', {
  id: { type: 'text', primary: true },
  name: { type: 'text' },
  ruleType: { type: 'text' },
  threshold: { type: 'double precision' },
  jobKind: { type: 'text', nullable: true },
  budgetId: { type: 'text', nullable: true },
  windowMinutes: { type: 'integer', nullable: true },
  minCalls: { type: 'integer', nullable: true },
  severity: { type: 'text' },
  enabled: { type: 'boolean' },
  createdAt: { type: 'timestamptz' },
  failuresInARow: { type: 'integer' },
  firedInRun: { type: 'boolean' },
  firedAt: { type: 'timestamptz', nullable: true },
});

@injectable()
export class TypeOrmAlertRuleRepository implements AlertRuleRepository {
  private readonly table = () => this.unitOfWork.repository(AlertRuleTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(rule: AlertRule): Promise<void> {
    await this.table().insert(rule);
  }

  find(id: string): Promise<AlertRule | null> {
    return this.table().findOneBy({ id });
  }

  all(): Promise<AlertRule[]> {
    return this.table().find({ order: { id: 'DESC' } });
  }

  async save(rules: readonly AlertRule[]): Promise<void> {
    for (const { id, ...change } of rules) await this.table().update({ id }, change);
  }

  remove(id: string): Promise<boolean> {
    return changesOne(this.table().delete({ id }));
  }
}
