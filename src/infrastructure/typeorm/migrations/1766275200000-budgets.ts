import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds budgets, and what calls have spent and hold of them in each period.
 *
 * `take_holds` takes for each call, one after another, a hold on each of its budgets, or none. It first locks the periods
 * in the order of the budgets, so that calls never wait for each other in a circle, and each statement of it sees what
 * earlier calls have committed. For each call, it returns the budget without room, or else the bounds. `scopes` are those
 * of all calls.
 *
 * `settle_holds` turns the holds of calls into what the calls have taken, or into their bounds if `taken` is null. It also
 * charges the budgets of the team that were created while a call ran, so that a budget is the sum of its calls. The unit
 * `places` counts calls that run, so it settles nothing. It changes the periods in the order of the budgets, too.
 *
 * Both change the periods in the transaction of their caller, which a crash of the database can undo within the next second.
 */
export class Budgets1766275200000 extends ForwardMigration {
  readonly name = 'Budgets1766275200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE budgets (
        id text COLLATE "C" PRIMARY KEY,
        team_id text COLLATE "C" NOT NULL REFERENCES teams ON DELETE CASCADE,
        scope text NOT NULL,
        scope_id text COLLATE "C" NOT NULL,
        rank smallint NOT NULL GENERATED ALWAYS AS
          (CASE scope WHEN 'team' THEN 1 WHEN 'project' THEN 2 WHEN 'account' THEN 3 ELSE 4 END) STORED,
        project_id text COLLATE "C" GENERATED ALWAYS AS (CASE scope WHEN 'project' THEN scope_id END) STORED
          REFERENCES projects ON DELETE CASCADE,
        account_id text COLLATE "C" GENERATED ALWAYS AS (CASE scope WHEN 'account' THEN scope_id END) STORED
          REFERENCES accounts ON DELETE CASCADE,
        key_id text COLLATE "C" GENERATED ALWAYS AS (CASE scope WHEN 'key' THEN scope_id END) STORED
          REFERENCES credentials ON DELETE CASCADE,
        unit text NOT NULL,
        "limit" numeric(38, 9) NOT NULL,
        period text NOT NULL,
        on_exceed text NOT NULL,
        created_by text COLLATE "C",
        of_admin boolean NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX budgets_of_scope ON budgets (team_id, scope_id);
      CREATE INDEX budgets_of_project ON budgets (project_id) WHERE project_id IS NOT NULL;
      CREATE INDEX budgets_of_account ON budgets (account_id) WHERE account_id IS NOT NULL;
      CREATE INDEX budgets_of_key ON budgets (key_id) WHERE key_id IS NOT NULL;
      CREATE TABLE budget_periods (
        budget_id text COLLATE "C" NOT NULL REFERENCES budgets ON DELETE CASCADE,
        start timestamptz NOT NULL,
        settled numeric(38, 9) NOT NULL DEFAULT 0,
        held numeric(38, 9) NOT NULL DEFAULT 0,
        PRIMARY KEY (budget_id, start)
      ) WITH (fillfactor = 50);
      -- There is no foreign key, whose check would lock the row of the budget for every call. There is no index by instance,
      -- because the table only has the calls that run now.
      CREATE TABLE budget_holds (
        call_id text COLLATE "C" PRIMARY KEY,
        instance integer NOT NULL,
        budget_ids text[] NOT NULL,
        starts timestamptz[] NOT NULL,
        amounts numeric[] NOT NULL,
        most_tokens numeric,
        most_ms numeric NOT NULL,
        units jsonb NOT NULL
      );

      ALTER TABLE evaluations ADD COLUMN waits_since timestamptz, ADD COLUMN waits_with integer;

      CREATE FUNCTION budget_start(period text, at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE AS $$
        SELECT CASE period WHEN 'total' THEN to_timestamp(0) ELSE date_trunc(period, at, 'UTC') END
      $$;

      -- Begins a period of a budget. Removes old periods. Instances whose clocks are late still use the one before.
      CREATE FUNCTION begin_budget_period(budget text, begins timestamptz) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO budget_periods (budget_id, start) SELECT id, begins FROM budgets WHERE id = budget FOR KEY SHARE
            ON CONFLICT DO NOTHING;
        DELETE FROM budget_periods WHERE budget_id = budget AND start < begins - interval '1 day' AND held = 0;
      END $$;

      CREATE FUNCTION take_holds(team text, scopes text[], instance integer, at timestamptz, calls jsonb)
      RETURNS TABLE (refused text, most_tokens numeric, most_ms numeric, count integer) LANGUAGE plpgsql AS $$
      DECLARE
        budget record;
        call jsonb;
        spent numeric;
        fixed numeric;
        per_token numeric;
        last integer := 0;
        ids text[] := '{}';
        scope_ids text[] := '{}';
        units text[] := '{}';
        starts timestamptz[] := '{}';
        rooms numeric[] := '{}'; -- null: never refuses
        added numeric[] := '{}';
        own integer[]; -- the places of the budgets of the call
        bounds numeric[];
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
          bounds := '{}';
          is_bounded := false;
          FOR nth IN 1 .. last LOOP
            CONTINUE WHEN NOT call->'scopes' ? scope_ids[nth];
            own := own || nth;
            CONTINUE WHEN rooms[nth] IS NULL;
            IF units[nth] = 'seconds' THEN
              most_ms := least(most_ms, floor(rooms[nth] * 1000));
              IF most_ms < 1 THEN refused := ids[nth]; EXIT; END IF;
            ELSE
              fixed := (call->'units'->units[nth]->>'fixed')::numeric;
              per_token := (call->'units'->units[nth]->>'per_token')::numeric;
              IF rooms[nth] < fixed + per_token * (call->>'least_tokens')::numeric THEN refused := ids[nth]; EXIT; END IF;
              IF per_token > 0 THEN
                is_bounded := true;
                most_tokens := least(most_tokens, floor((rooms[nth] - fixed) / per_token));
              END IF;
            END IF;
          END LOOP;
          count := cardinality(own);
          IF refused IS NULL AND count > 0 THEN
            FOR nth IN 1 .. count LOOP
              fixed := (call->'units'->units[own[nth]]->>'fixed')::numeric;
              per_token := (call->'units'->units[own[nth]]->>'per_token')::numeric;
              bounds[nth] := CASE units[own[nth]] WHEN 'seconds' THEN most_ms / 1000
                                                  ELSE fixed + per_token * coalesce(most_tokens, 0) END;
              rooms[own[nth]] := rooms[own[nth]] - bounds[nth];
              added[own[nth]] := added[own[nth]] + bounds[nth];
            END LOOP;
            INSERT INTO budget_holds VALUES (
              call->>'id', instance, ARRAY(SELECT ids[place] FROM unnest(own) AS place),
              ARRAY(SELECT starts[place] FROM unnest(own) AS place), bounds, most_tokens, most_ms, call->'units');
          END IF;
          IF NOT is_bounded THEN most_tokens := NULL; END IF;
          RETURN NEXT;
        END LOOP;

        FOR nth IN 1 .. last LOOP
          UPDATE budget_periods SET held = held + added[nth]
           WHERE budget_id = ids[nth] AND start = starts[nth] AND added[nth] <> 0;
        END LOOP;
      END $$;

      -- The ends are { id, taken, is_held } of calls, with their scopes and the time of their arrival if there is a team.
      CREATE FUNCTION settle_holds(team text, ends jsonb) RETURNS void LANGUAGE plpgsql AS $$
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
            SELECT call_id, hold.* FROM gone, unnest(budget_ids, starts, amounts) AS hold (budget_id, begins, held)
             UNION ALL
            SELECT call.id, newer.id, budget_start(period, at), 0
              FROM ended AS call JOIN budgets AS newer ON team_id = team AND scopes ? scope_id
             WHERE CASE WHEN EXISTS (SELECT FROM gone WHERE call_id = call.id)
                        THEN NOT EXISTS (SELECT FROM gone WHERE call_id = call.id AND newer.id = ANY (budget_ids))
                        ELSE NOT is_held OR created_at > at END -- without its holds, the reaper has settled the call
          )
          SELECT budget_id, begins, sum(held) AS held,
                 sum(CASE unit WHEN 'places' THEN 0 ELSE coalesce((taken->>unit)::numeric, held) END) AS spent
            FROM charged JOIN budgets ON budgets.id = budget_id JOIN ended ON ended.id = call_id
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
