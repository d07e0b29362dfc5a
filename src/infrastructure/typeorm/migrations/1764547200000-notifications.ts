import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

export class Notifications1764547200000 extends ForwardMigration {
  readonly name = 'Notifications1764547200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts ADD COLUMN alert_emails boolean NOT NULL DEFAULT false;
      CREATE INDEX accounts_wanting_alerts ON accounts (team_id) WHERE alert_emails;
      ALTER TABLE outbox ADD COLUMN series text COLLATE "C", ADD COLUMN first_due_at timestamptz;
      CREATE INDEX outbox_series ON outbox (series, first_due_at) WHERE series IS NOT NULL;

      CREATE TABLE webhooks (
        id text COLLATE "C" PRIMARY KEY,
        sealed text NOT NULL,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        enabled boolean NOT NULL,
        last_delivery json
      );
    `);
  }
}
