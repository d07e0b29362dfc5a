import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds jobs and alerts. They have no foreign keys to projects, teams and accounts, because they must outlive them. */
export class Jobs1764374400000 extends ForwardMigration {
  readonly name = 'Jobs1764374400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE jobs (
        id text COLLATE "C" PRIMARY KEY,
        team_id text COLLATE "C",
        kind text COLLATE "C" NOT NULL,
        mode text COLLATE "C" NOT NULL CHECK (mode IN ('async', 'sync')),
        status text COLLATE "C" NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
        name text,
        project_id text COLLATE "C",
        dataset_id text COLLATE "C",
        model_id text COLLATE "C",
        requested_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        started_at timestamptz,
        finished_at timestamptz,
        progress json NOT NULL,
        result json,
        error text,
        process integer,
        finish_number bigint,
        CHECK ((finish_number IS NULL) = (finished_at IS NULL))
      );
      CREATE INDEX jobs_of_team ON jobs (team_id, id);
      CREATE INDEX jobs_of_project ON jobs (project_id, id) WHERE project_id IS NOT NULL;
      CREATE INDEX jobs_by_status ON jobs (status, id);
      CREATE INDEX jobs_of_process ON jobs (process, id) WHERE process IS NOT NULL AND finish_number IS NULL;
      CREATE UNIQUE INDEX jobs_by_finish ON jobs (finish_number) WHERE finish_number IS NOT NULL;
      CREATE INDEX jobs_of_kind_by_finish ON jobs (kind, finish_number) WHERE finish_number IS NOT NULL;
      CREATE INDEX jobs_old_calls ON jobs (finished_at) WHERE mode = 'sync' AND finish_number IS NOT NULL;
      CREATE SEQUENCE process_numbers AS integer;

      CREATE TABLE alert_rules (
        id text COLLATE "C" PRIMARY KEY,
        name text NOT NULL,
        rule_type text COLLATE "C" NOT NULL,
        threshold double precision NOT NULL,
        job_kind text COLLATE "C",
        severity text COLLATE "C" NOT NULL,
        enabled boolean NOT NULL,
        created_at timestamptz NOT NULL,
        failures_in_a_row integer NOT NULL,
        fired_in_run boolean NOT NULL
      );
      CREATE TABLE alerts (
        id text COLLATE "C" PRIMARY KEY,
        rule_id text COLLATE "C" NOT NULL,
        rule_name text NOT NULL,
        rule_type text COLLATE "C" NOT NULL,
        severity text COLLATE "C" NOT NULL,
        title text NOT NULL,
        message text NOT NULL,
        job_id text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        acked_at timestamptz,
        acked_by text COLLATE "C",
        note text
      );
      CREATE UNIQUE INDEX alerts_once ON alerts (rule_id, job_id);
      CREATE INDEX alerts_firing ON alerts (id) WHERE acked_at IS NULL;
    `);
  }
}
