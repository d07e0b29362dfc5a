import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Finds acknowledged alerts among many that fire. */
export class AcknowledgedAlerts1765756800000 extends ForwardMigration {
  readonly name = 'AcknowledgedAlerts1765756800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX alerts_acknowledged ON alerts (id) WHERE acked_at IS NOT NULL');
  }
}
