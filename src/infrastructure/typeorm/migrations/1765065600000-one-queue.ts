import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Moves waiting e-mails from their own table into the work queue, and adds a table of the workers of all instances. */
export class OneQueue1765065600000 extends ForwardMigration {
  readonly name = 'OneQueue1765065600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_workers (
        id text COLLATE "C" PRIMARY KEY,
        instance integer NOT NULL
      );

      CREATE TABLE alert_mails (
        id text COLLATE "C" PRIMARY KEY,
        account_id text COLLATE "C" NOT NULL REFERENCES accounts ON DELETE CASCADE,
        sent_at timestamptz NOT NULL
      );
      CREATE INDEX alert_mails_of_account ON alert_mails (account_id, sent_at);
      CREATE INDEX alert_mails_sent ON alert_mails (sent_at);
      INSERT INTO alert_mails
      SELECT mail.id, account.id, mail.first_due_at
        FROM outbox mail JOIN accounts account ON mail.series = 'alerts ' || account.id
       WHERE mail.first_due_at > now() - interval '1 hour';

      DO $$ BEGIN
        IF EXISTS (SELECT FROM outbox WHERE delivered_at IS NULL) THEN
          PERFORM graphile_worker.add_job('mail', job_key => id, max_attempts => 32767, payload => json_build_object(
                    'payload', json_build_object('id', id, 'sealed', sealed), 'maxAttempts', 10000))
             FROM outbox WHERE delivered_at IS NULL;
        END IF;
      END $$;
      DROP TABLE outbox;
    `);
  }
}
