import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds the cost of calls and the prices of deployments. Calls that ended before have no cost. */
export class Prices1766188800000 extends ForwardMigration {
  readonly name = 'Prices1766188800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE jobs ADD COLUMN cost numeric(27, 9);
      ALTER TABLE deployments ADD COLUMN prices json;
    `);
  }
}
