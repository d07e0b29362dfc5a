import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Drops the owners of deployments and runtimes, because every instance now runs all of them. */
export class DesiredState1764892800000 extends ForwardMigration {
  readonly name = 'DesiredState1764892800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runtime_connections DROP COLUMN process;
      ALTER TABLE deployments DROP COLUMN process;
      DROP TABLE processes;
    `);
  }
}
