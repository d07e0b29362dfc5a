import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds the fields of alert rules for budgets and for windows of calls. A rule stays when its budget is deleted. */
export class MoreAlertRules1766404800000 extends ForwardMigration {
  readonly name = 'MoreAlertRules1766404800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE alert_rules
        ADD COLUMN budget_id text COLLATE "C",
        ADD COLUMN window_minutes integer,
        ADD COLUMN min_calls integer,
        ADD COLUMN fired_at timestamptz;
    `);
  }
}
