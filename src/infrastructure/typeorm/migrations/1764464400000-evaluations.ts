import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Deletes results with their project, because the records belong to it. The job and its summary stay. */
export class Evaluations1764464400000 extends ForwardMigration {
  name = 'Evaluations1764464400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE evaluations (
        job_id text COLLATE "C" PRIMARY KEY,
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        dataset_id text COLLATE "C" NOT NULL,
        content_sha256 text COLLATE "C" NOT NULL,
        definition json NOT NULL,
        run integer NOT NULL DEFAULT 0
      );
      CREATE INDEX evaluations_of_dataset ON evaluations (project_id, dataset_id, job_id);
      CREATE TABLE evaluation_results (
        job_id text COLLATE "C" NOT NULL REFERENCES evaluations ON DELETE CASCADE,
        position integer NOT NULL,
        record_id text NOT NULL,
        "group" text,
        input json NOT NULL,
        expected json NOT NULL,
        output text,
        score smallint NOT NULL,
        latency double precision NOT NULL,
        tokens json,
        error text,
        PRIMARY KEY (job_id, position)
      );
    `);
  }
}
