import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds a function with which one statement can store the end of a call. Each statement inside a function sees
 * everything that was committed before the function got the lock. The calling statement does not see all of this.
 */
export class SyncJobs1764417600000 extends ForwardMigration {
  readonly name = 'SyncJobs1764417600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION unnoticed_turn(line text, kinds text[], statuses text[], durations double precision[])
      RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(line, 0));
        IF EXISTS (
          SELECT FROM unnest(kinds, statuses, durations) AS job (kind, status, duration)
            JOIN alert_rules rule ON rule.job_kind IS NULL OR rule.job_kind = job.kind
           WHERE CASE rule.rule_type
                   WHEN 'consecutive_failures' THEN
                     job.status = 'failed'
                     OR job.status = 'succeeded' AND (rule.failures_in_a_row > 0 OR rule.fired_in_run)
                   WHEN 'job_duration_exceeded' THEN rule.enabled AND job.duration > rule.threshold
                   ELSE true
                 END
        ) THEN
          RETURN NULL;
        END IF;
        PERFORM set_config('synchronous_commit', 'off', true);
        RETURN (SELECT coalesce(max(finish_number), 0) FROM jobs);
      END $$;
    `);
  }
}
