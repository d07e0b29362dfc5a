import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds indexes to find expired rows, and the time at which an e-mail was added. */
export class Housekeeping1764590400000 extends ForwardMigration {
  readonly name = 'Housekeeping1764590400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE outbox ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();
      CREATE INDEX outbox_delivered ON outbox (delivered_at) WHERE delivered_at IS NOT NULL;
      CREATE INDEX credentials_expiring ON credentials (expires_at) WHERE expires_at IS NOT NULL;
      CREATE INDEX mailed_tokens_expiring ON mailed_tokens (expires_at);
    `);
  }
}
