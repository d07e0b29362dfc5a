import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds what restricts API keys. The limits of a key that all instances share are budgets that nobody sees: the tokens of
 * a minute, and the places of calls that run. So the same holds keep both, and a dead instance gives them back.
 */
export class KeyRestrictions1766372400000 extends ForwardMigration {
  readonly name = 'KeyRestrictions1766372400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE credentials
        ADD COLUMN projects text[],
        ADD COLUMN permissions text[],
        ADD COLUMN requests_per_minute integer,
        ADD COLUMN tokens_per_minute integer,
        ADD COLUMN max_concurrent integer,
        ADD COLUMN version integer NOT NULL DEFAULT 1;
      ALTER TABLE budgets ADD COLUMN is_key_limit boolean NOT NULL DEFAULT false;
    `);
  }
}
