import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds `settle_and_take`: settles the ends of calls, and then takes the holds of other calls of the same team. `all_scopes`
 * are those of all these calls. The other parameters and the result are those of `settle_holds` and `take_holds`.
 */
export class EndsWithHolds1767052800000 extends ForwardMigration {
  readonly name = 'EndsWithHolds1767052800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE FUNCTION settle_and_take(ends jsonb, all_scopes text[], team text, scopes text[], instance integer,
                                      at timestamptz, calls jsonb)
      RETURNS TABLE (refused text, most_tokens numeric, most_ms numeric, count integer) LANGUAGE plpgsql AS $$
      DECLARE
        budget record;
      BEGIN
        IF ends IS NOT NULL THEN
          -- Each of the two functions locks its periods in the order of the budgets. The second one would begin again with
          -- the first budget, so all are begun and locked before.
          FOR budget IN
            SELECT id, budget_start(period, at) AS begins
              FROM budgets WHERE team_id = team AND scope_id = ANY (all_scopes) ORDER BY rank, id
          LOOP
            PERFORM FROM budget_periods
              WHERE budget_id = budget.id AND (held > 0 OR start = budget.begins) ORDER BY start FOR UPDATE;
            CONTINUE WHEN EXISTS (SELECT FROM budget_periods WHERE budget_id = budget.id AND start = budget.begins);
            PERFORM begin_budget_period(budget.id, budget.begins);
            PERFORM FROM budget_periods WHERE budget_id = budget.id AND start = budget.begins FOR UPDATE;
          END LOOP;
          PERFORM settle_holds(team, ends);
        END IF;
        RETURN QUERY SELECT * FROM take_holds(team, scopes, instance, at, calls);
      END $$;
    `);
  }
}
