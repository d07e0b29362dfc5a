import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds the number of all findings to each stored validation. The 101st entry of a list says how many are left out. */
export class CountedFindings1765929600000 extends ForwardMigration {
  readonly name = 'CountedFindings1765929600000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['datasets', 'dataset_versions']) {
      await runner.query(`
        UPDATE ${table} SET validation = jsonb_set(validation::jsonb, '{count}', to_jsonb(coalesce(
          100 + substring(validation->'findings'->100->>'message' FROM '[0-9]+')::integer,
          json_array_length(validation->'findings'), 0)))
      `);
    }
  }
}
