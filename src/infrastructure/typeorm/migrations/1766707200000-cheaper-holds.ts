import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Replaces `take_holds` and `settle_holds` by functions that promise the same and take less time. The migration
 * `budgets` tells the promises.
 */
export class CheaperHolds1766707200000 extends ForwardMigration {
  readonly name = 'CheaperHolds1766707200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE OR REPLACE FUNCTION take_holds(team text, scopes text[], instance integer, at timestamptz, calls jsonb)
      RETURNS TABLE (refused text, most_tokens numeric, most_ms numeric, count integer) LANGUAGE plpgsql AS $$
      DECLARE
        budget record;
        call jsonb;
        linear jsonb;
        spent numeric;
        fixed numeric[] := '{}'; -- of the call, by the places of the budgets
        per_token numeric[] := '{}';
        last integer := 0;
        ids text[] := '{}';
        scope_ids text[] := '{}';
        units text[] := '{}';
        starts timestamptz[] := '{}';
        rooms numeric[] := '{}'; -- null: never refuses
        added numeric[] := '{}';
        own integer[]; -- the places of the budgets of the call
        own_ids text[];
        own_starts timestamptz[];
        bounds numeric[];
        bound numeric;
        place integer;
        is_bounded boolean; -- a budget limits the tokens
      BEGIN
        FOR budget IN
          SELECT id, scope_id, unit, CASE on_exceed WHEN 'refuse' THEN "limit" END AS most, budget_start(period, at) AS begins
            FROM budgets WHERE team_id = team AND scope_id = ANY (scopes) ORDER BY rank, id
        LOOP
          SELECT settled + held INTO spent FROM budget_periods
           WHERE budget_id = budget.id AND start = budget.begins FOR UPDATE;
          IF NOT FOUND THEN
            PERFORM begin_budget_period(budget.id, budget.begins);
            SELECT settled + held INTO spent FROM budget_periods
             WHERE budget_id = budget.id AND start = budget.begins FOR UPDATE;
            CONTINUE WHEN NOT FOUND; -- the budget was deleted meanwhile
          END IF;
          last := last + 1;
          ids[last] := budget.id;
          scope_ids[last] := budget.scope_id;
          units[last] := budget.unit;
          starts[last] := budget.begins;
          rooms[last] := budget.most - spent;
          added[last] := 0;
        END LOOP;

        FOR call IN SELECT value FROM jsonb_array_elements(calls) LOOP
          refused := NULL;
          most_tokens := (call->>'most_tokens')::numeric;
          most_ms := (call->>'most_ms')::numeric;
          own := '{}';
          is_bounded := false;
          FOR nth IN 1 .. last LOOP
            CONTINUE WHEN NOT call->'scopes' ? scope_ids[nth];
            own := own || nth;
            IF units[nth] = 'seconds' THEN
              CONTINUE WHEN rooms[nth] IS NULL;
              most_ms := least(most_ms, floor(rooms[nth] * 1000));
              IF most_ms < 1 THEN refused := ids[nth]; EXIT; END IF;
            ELSE
              linear := call->'units'->units[nth];
              fixed[nth] := linear->>'fixed';
              per_token[nth] := linear->>'per_token';
              CONTINUE WHEN rooms[nth] IS NULL;
              IF rooms[nth] < fixed[nth] + per_token[nth] * (call->>'least_tokens')::numeric THEN
                refused := ids[nth]; EXIT;
              END IF;
              IF per_token[nth] > 0 THEN
                is_bounded := true;
                most_tokens := least(most_tokens, floor((rooms[nth] - fixed[nth]) / per_token[nth]));
              END IF;
            END IF;
          END LOOP;
          count := cardinality(own);
          IF refused IS NULL AND count > 0 THEN
            own_ids := '{}';
            own_starts := '{}';
            bounds := '{}';
            FOREACH place IN ARRAY own LOOP
              bound := CASE units[place] WHEN 'seconds' THEN most_ms / 1000
                                         ELSE fixed[place] + per_token[place] * coalesce(most_tokens, 0) END;
              rooms[place] := rooms[place] - bound;
              added[place] := added[place] + bound;
              own_ids := own_ids || ids[place];
              own_starts := own_starts || starts[place];
              bounds := bounds || bound;
            END LOOP;
            INSERT INTO budget_holds
            VALUES (call->>'id', instance, own_ids, own_starts, bounds, most_tokens, most_ms, call->'units');
          END IF;
          IF NOT is_bounded THEN most_tokens := NULL; END IF;
          RETURN NEXT;
        END LOOP;

        FOR nth IN 1 .. last LOOP
          UPDATE budget_periods SET held = held + added[nth]
           WHERE budget_id = ids[nth] AND start = starts[nth] AND added[nth] <> 0;
        END LOOP;
      END $$;

      CREATE OR REPLACE FUNCTION settle_holds(team text, ends jsonb) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE
        part record;
      BEGIN
        IF NOT ends @> '[{"is_held": true}]' AND NOT EXISTS (SELECT FROM budgets WHERE team_id = team) THEN
          RETURN;
        END IF;
        FOR part IN
          WITH ended AS MATERIALIZED (
            SELECT * FROM jsonb_to_recordset(ends) AS call (id text, taken jsonb, scopes jsonb, at timestamptz, is_held boolean)
          ), gone AS (
            DELETE FROM budget_holds WHERE call_id = ANY (ARRAY(SELECT id FROM ended WHERE is_held)) RETURNING *
          ), charged AS (
            SELECT taken, hold.*
              FROM gone JOIN ended ON id = call_id, unnest(budget_ids, starts, amounts) AS hold (budget_id, begins, held)
             UNION ALL
            SELECT taken, newer.id, budget_start(period, at), 0
              FROM ended JOIN budgets AS newer ON team_id = team AND scopes ? scope_id LEFT JOIN gone ON call_id = ended.id
             WHERE CASE WHEN call_id IS NOT NULL THEN newer.id <> ALL (budget_ids)
                        ELSE NOT is_held OR created_at > at END -- without its holds, the reaper has settled the call
          )
          SELECT budget_id, begins, sum(held) AS held,
                 sum(CASE unit WHEN 'places' THEN 0 ELSE coalesce((taken->>unit)::numeric, held) END) AS spent
            FROM charged JOIN budgets ON budgets.id = budget_id
           GROUP BY rank, budget_id, begins ORDER BY rank, budget_id, begins
        LOOP
          UPDATE budget_periods SET held = held - part.held, settled = settled + part.spent
           WHERE budget_id = part.budget_id AND start = part.begins;
          CONTINUE WHEN FOUND;
          PERFORM begin_budget_period(part.budget_id, part.begins);
          UPDATE budget_periods SET settled = settled + part.spent
           WHERE budget_id = part.budget_id AND start = part.begins;
        END LOOP;
      END $$;
    `);
  }
}
