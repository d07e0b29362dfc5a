import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Lets a runtime have several models. Runtimes of earlier versions have one. */
export class Targets1766361600000 extends ForwardMigration {
  readonly name = 'Targets1766361600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runtime_connections
        ADD COLUMN fallbacks json NOT NULL DEFAULT '[]',
        ADD COLUMN split json;
    `);
  }
}
