import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds what has had its time, and tells the age of what waits. */
export class Housekeeping1764590400000 implements MigrationInterface {
  readonly name = 'Housekeeping1764590400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE outbox ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
      CREATE INDEX outbox_delivered ON outbox (delivered_at) WHERE delivered_at IS NOT NULL;
      CREATE INDEX credentials_expiring ON credentials (expires_at) WHERE expires_at IS NOT NULL;
      CREATE INDEX mailed_tokens_expiring ON mailed_tokens (expires_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX mailed_tokens_expiring, credentials_expiring, outbox_delivered;
      ALTER TABLE outbox DROP COLUMN created_at;
    `);
  }
}
