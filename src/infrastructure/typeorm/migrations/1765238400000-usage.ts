import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Keeps the usage of calls. Calls that ended before have none. */
export class Usage1765238400000 extends ForwardMigration {
  readonly name = 'Usage1765238400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE jobs ADD COLUMN usage json;
    `);
  }
}
