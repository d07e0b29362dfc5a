import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Stores responses, and the parts of those in the background. The index for quotas contains the figures. */
export class Responses1766102400000 extends ForwardMigration {
  readonly name = 'Responses1766102400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE responses (
        id text COLLATE "C" PRIMARY KEY,
        account_id text COLLATE "C" NOT NULL REFERENCES accounts ON DELETE CASCADE,
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        status text NOT NULL,
        background boolean NOT NULL,
        previous_id text COLLATE "C",
        messages json NOT NULL,
        repeated json NOT NULL,
        output json NOT NULL,
        usage json,
        failure json,
        created_at timestamptz NOT NULL,
        finished_at timestamptz,
        task json,
        run integer NOT NULL DEFAULT 0,
        batches integer NOT NULL DEFAULT 0,
        stored_bytes bigint NOT NULL
      );
      CREATE INDEX responses_of_account ON responses (account_id, id) INCLUDE (stored_bytes);
      CREATE INDEX responses_of_project ON responses (project_id);
      CREATE INDEX responses_by_age ON responses (created_at);
      CREATE TABLE response_batches (
        response_id text COLLATE "C" NOT NULL REFERENCES responses ON DELETE CASCADE,
        number integer NOT NULL,
        parts json NOT NULL,
        PRIMARY KEY (response_id, number)
      );
    `);
  }
}
