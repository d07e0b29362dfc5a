import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** The messages of other notifiers have limits, too. */
export class AlertMessages1765500000000 extends ForwardMigration {
  readonly name = 'AlertMessages1765500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE alert_mails DROP CONSTRAINT alert_mails_account_id_fkey;
      ALTER TABLE alert_mails RENAME COLUMN account_id TO receiver;
      ALTER TABLE alert_mails RENAME TO alert_messages;
      ALTER INDEX alert_mails_of_account RENAME TO alert_messages_of_receiver;
      ALTER INDEX alert_mails_sent RENAME TO alert_messages_sent;
    `);
  }
}
