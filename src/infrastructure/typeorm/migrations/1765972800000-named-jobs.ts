import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Finds the jobs with a name, of which there are few beside the calls. A search by name reads only this index. */
export class NamedJobs1765972800000 extends ForwardMigration {
  readonly name = 'NamedJobs1765972800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE INDEX jobs_named ON jobs (team_id, id) INCLUDE (name) WHERE name IS NOT NULL');
  }
}
