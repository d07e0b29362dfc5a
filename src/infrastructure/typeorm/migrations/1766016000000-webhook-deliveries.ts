import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Stores the newest deliveries of each webhook in place of the last one. */
export class WebhookDeliveries1766016000000 extends ForwardMigration {
  readonly name = 'WebhookDeliveries1766016000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE webhooks ADD COLUMN deliveries jsonb NOT NULL DEFAULT '[]';
      UPDATE webhooks SET deliveries = jsonb_build_array(last_delivery) WHERE last_delivery IS NOT NULL;
      ALTER TABLE webhooks DROP COLUMN last_delivery;
    `);
  }
}
