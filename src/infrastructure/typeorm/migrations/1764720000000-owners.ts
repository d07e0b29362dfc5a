import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds the instance that runs each deployment and runtime, and the address of each instance. */
export class Owners1764720000000 extends ForwardMigration {
  readonly name = 'Owners1764720000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE processes (
        number integer PRIMARY KEY,
        name text NOT NULL,
        url text NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now()
      );
      ALTER TABLE deployments ADD COLUMN process integer;
      ALTER TABLE runtime_connections ADD COLUMN process integer;
    `);
  }
}
