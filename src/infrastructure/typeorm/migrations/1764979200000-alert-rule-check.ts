import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds a function that returns whether there are no alert rules. One statement can then check this and store the end of
 * a call. The function takes the lock first. Its second statement then sees every rule that earlier holders of the lock
 * have committed.
 */
export class AlertRuleCheck1764979200000 extends ForwardMigration {
  readonly name = 'AlertRuleCheck1764979200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION no_alert_rule(lock text) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock_shared(hashtextextended(lock, 0));
        RETURN NOT EXISTS (SELECT FROM alert_rules);
      END $$;
    `);
  }
}
