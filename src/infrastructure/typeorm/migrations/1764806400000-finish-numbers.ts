import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Numbers finished jobs by a sequence, so that jobs without an alert rule do not wait for each other at their end. */
export class FinishNumbers1764806400000 extends ForwardMigration {
  readonly name = 'FinishNumbers1764806400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION unnoticed_turn;
      CREATE SEQUENCE job_finish_numbers OWNED BY jobs.finish_number;
      SELECT setval('job_finish_numbers', coalesce(max(finish_number), 0) + 1, false) FROM jobs;
    `);
  }
}
