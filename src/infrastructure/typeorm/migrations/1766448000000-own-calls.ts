import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds the calls that the service itself makes to models, for its evaluations. Their ends share the numbers of the ends
 * of jobs, so that usage is rolled up in one order. A hold also tells when it was taken, for the call of a dead
 * instance. An evaluation can fire a rule of a budget in several periods.
 */
export class OwnCalls1766448000000 extends ForwardMigration {
  readonly name = 'OwnCalls1766448000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE own_calls (
        id text COLLATE "C" PRIMARY KEY,
        job_id text COLLATE "C" NOT NULL,
        team_id text COLLATE "C" NOT NULL,
        project_id text COLLATE "C",
        model_id text COLLATE "C",
        requested_by text COLLATE "C" NOT NULL,
        status text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        finished_at timestamptz NOT NULL,
        usage json NOT NULL,
        cost numeric(27, 9),
        seconds numeric NOT NULL,
        finish_number bigint NOT NULL
      );
      CREATE UNIQUE INDEX own_calls_by_finish ON own_calls (finish_number);
      CREATE INDEX own_calls_by_end ON own_calls (finished_at);
      ALTER TABLE budget_holds ADD COLUMN taken_at timestamptz NOT NULL DEFAULT now();
      ALTER TABLE evaluation_results ADD COLUMN model_id text COLLATE "C";
      DROP INDEX alerts_once;
      CREATE UNIQUE INDEX alerts_once ON alerts (rule_id, job_id, created_at);
    `);
  }
}
