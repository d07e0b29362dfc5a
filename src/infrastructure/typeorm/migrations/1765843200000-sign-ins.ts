import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Stores with each session where its sign-in came from. The index finds the keys of logins that nobody has used. */
export class SignIns1765843200000 extends ForwardMigration {
  readonly name = 'SignIns1765843200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE credentials ADD COLUMN address text, ADD COLUMN user_agent text;
      CREATE INDEX credentials_unused ON credentials (created_at)
        WHERE kind = 'api_key' AND origin = 'login' AND last_used_at IS NULL;
    `);
  }
}
