import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds the reports of the running instances. The table is not logged, because each row is written again every few
 * seconds: after a crash of PostgreSQL, the table is empty until then.
 */
export class Instances1766880000000 extends ForwardMigration {
  readonly name = 'Instances1766880000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE UNLOGGED TABLE instances (
        number integer PRIMARY KEY,
        name text NOT NULL,
        version text NOT NULL,
        since timestamptz NOT NULL,
        state text NOT NULL,
        runtimes json NOT NULL,
        deployments json NOT NULL,
        waiting_calls integer NOT NULL,
        memory_bytes bigint NOT NULL,
        reported_at timestamptz NOT NULL
      );
    `);
  }
}
