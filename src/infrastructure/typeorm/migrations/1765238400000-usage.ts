import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds the usage of calls and its roll-ups. Calls that ended before have no usage. There are no foreign keys, because
 * usage must outlive accounts and projects.
 */
export class Usage1765238400000 extends ForwardMigration {
  readonly name = 'Usage1765238400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE jobs ADD COLUMN usage json;

      CREATE TABLE usage_rollups (
        scope text COLLATE "C" NOT NULL,
        grouped_by text COLLATE "C" NOT NULL,
        bucket text COLLATE "C" NOT NULL,
        start timestamptz NOT NULL,
        "group" text COLLATE "C" NOT NULL,
        summary json NOT NULL,
        histograms json NOT NULL,
        PRIMARY KEY (scope, grouped_by, bucket, start, "group")
      ) WITH (fillfactor = 80);
      -- Finds old minutes. A B-tree would tempt the planner to read the minutes of all scopes in the order of an answer.
      CREATE INDEX usage_rollups_minutes ON usage_rollups USING brin (start) WITH (autosummarize = on)
        WHERE bucket = 'minute';

      CREATE TABLE usage_progress (
        is_only boolean PRIMARY KEY CHECK (is_only),
        finish_number bigint NOT NULL
      );
      INSERT INTO usage_progress SELECT true, max(finish_number) FROM jobs HAVING max(finish_number) IS NOT NULL;
    `);
  }
}
