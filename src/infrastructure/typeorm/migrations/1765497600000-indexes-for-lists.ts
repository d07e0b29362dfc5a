import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Replaces the indexes of lists, so that each list reads only rows that it shows, however rare its kind, status or
 * action is. Every call inserts a job, so the number of indexes of jobs stays the same.
 */
export class IndexesForLists1765497600000 extends ForwardMigration {
  readonly name = 'IndexesForLists1765497600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX jobs_of_team, jobs_of_project, jobs_by_status;
      CREATE INDEX jobs_of_team ON jobs (team_id, kind, status, id);
      CREATE INDEX jobs_of_project ON jobs (project_id, kind, status, id) WHERE project_id IS NOT NULL;
      CREATE INDEX jobs_by_kind ON jobs (kind, status, id);
      CREATE INDEX audit_entries_of_team_by_action ON audit_entries (team_id, action, id);
    `);
  }
}
