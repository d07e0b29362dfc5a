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
      BEGIN
        IF ends IS NOT NULL THEN
          -- Each of the two functions locks its periods in the order of the budgets. The second one would begin again with
          -- the first budget, so all are locked before.
          PERFORM FROM budgets JOIN budget_periods AS of_period ON budget_id = id
            WHERE team_id = team AND scope_id = ANY (all_scopes) AND (held > 0 OR start = budget_start(period, at))
            ORDER BY rank, budget_id, start FOR UPDATE OF of_period;
          PERFORM settle_holds(team, ends);
        END IF;
        RETURN QUERY SELECT * FROM take_holds(team, scopes, instance, at, calls);
      END $$;
    `);
  }
}
