import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Drops the owners of deployments and runtimes: every instance runs all that the database wants to run. */
export class DesiredState1764892800000 implements MigrationInterface {
  readonly name = 'DesiredState1764892800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runtime_connections DROP COLUMN process;
      ALTER TABLE deployments DROP COLUMN process;
      DROP TABLE processes;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
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
