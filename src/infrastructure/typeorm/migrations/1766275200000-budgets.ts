import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds budgets, and what calls have spent and hold of them in each period.
 *
 * `take_holds` takes a hold on each budget of a call, or none. It locks the budgets in one order, so that calls never
 * wait for each other in a circle, and each statement of it sees what earlier calls have committed. It returns the budget
 * without room, or else the bounds of the call. `settle_holds` turns the holds of a call into what it has taken.
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
        unit text NOT NULL,
        "limit" numeric(38, 9) NOT NULL,
        period text NOT NULL,
        on_exceed text NOT NULL,
        created_by text COLLATE "C",
        of_admin boolean NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE INDEX budgets_of_scope ON budgets (team_id, scope_id);
      CREATE TABLE budget_periods (
        budget_id text COLLATE "C" NOT NULL REFERENCES budgets ON DELETE CASCADE,
        start timestamptz NOT NULL,
        settled numeric(38, 9) NOT NULL DEFAULT 0,
        held numeric(38, 9) NOT NULL DEFAULT 0,
        PRIMARY KEY (budget_id, start)
      ) WITH (fillfactor = 50);
      CREATE TABLE budget_holds (
        call_id text COLLATE "C" NOT NULL,
        budget_id text COLLATE "C" NOT NULL REFERENCES budgets ON DELETE CASCADE,
        start timestamptz NOT NULL,
        amount numeric(38, 9) NOT NULL,
        instance integer NOT NULL,
        bound json NOT NULL,
        PRIMARY KEY (call_id, budget_id)
      );
      CREATE INDEX budget_holds_of_instance ON budget_holds (instance);

      CREATE FUNCTION take_holds(
        call text, instance integer, team text, scopes text[], starts jsonb, demand jsonb,
        OUT refused text, OUT most_tokens numeric, OUT most_ms numeric, OUT count integer
      ) LANGUAGE plpgsql AS $$
      DECLARE
        budget record;
        room numeric;
        fixed numeric;
        per_token numeric;
        bound numeric;
        ids text[] := '{}';
      BEGIN
        most_tokens := (demand->>'most_tokens')::numeric;
        most_ms := (demand->>'most_ms')::numeric;
        FOR budget IN SELECT * FROM budgets WHERE team_id = team AND scope_id = ANY (scopes) ORDER BY rank, id
                         FOR KEY SHARE LOOP
          ids := ids || budget.id;
          INSERT INTO budget_periods (budget_id, start)
               VALUES (budget.id, (starts->>budget.period)::timestamptz) ON CONFLICT DO NOTHING;
          SELECT budget."limit" - settled - held INTO room FROM budget_periods
           WHERE budget_id = budget.id AND start = (starts->>budget.period)::timestamptz FOR UPDATE;
          CONTINUE WHEN budget.on_exceed <> 'refuse';
          fixed := (demand->'units'->budget.unit->>'fixed')::numeric;
          per_token := (demand->'units'->budget.unit->>'per_token')::numeric;
          IF budget.unit = 'seconds' THEN
            most_ms := least(most_ms, floor(room * 1000));
            refused := CASE WHEN most_ms < 1 THEN budget.id END;
          ELSE
            refused := CASE WHEN room < fixed + per_token * (demand->>'least_tokens')::numeric THEN budget.id END;
            IF per_token > 0 THEN most_tokens := least(most_tokens, floor((room - fixed) / per_token)); END IF;
          END IF;
          EXIT WHEN refused IS NOT NULL;
        END LOOP;
        count := cardinality(ids);
        IF refused IS NOT NULL THEN RETURN; END IF;
        FOR budget IN SELECT * FROM budgets WHERE id = ANY (ids) ORDER BY rank, id LOOP
          fixed := (demand->'units'->budget.unit->>'fixed')::numeric;
          per_token := (demand->'units'->budget.unit->>'per_token')::numeric;
          bound := CASE budget.unit WHEN 'seconds' THEN most_ms / 1000 ELSE fixed + per_token * coalesce(most_tokens, 0) END;
          UPDATE budget_periods SET held = held + bound
           WHERE budget_id = budget.id AND start = (starts->>budget.period)::timestamptz;
          INSERT INTO budget_holds VALUES (
            call, budget.id, (starts->>budget.period)::timestamptz, bound, instance,
            (SELECT json_object_agg(unit, CASE unit WHEN 'seconds' THEN most_ms / 1000 ELSE
                      (of_unit->>'fixed')::numeric + (of_unit->>'per_token')::numeric * coalesce(most_tokens, 0) END::numeric(38, 9)::text)
               FROM jsonb_each(demand->'units') AS amounts (unit, of_unit)));
        END LOOP;
      END $$;

      CREATE FUNCTION settle_holds(call text, taken jsonb) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE
        hold record;
      BEGIN
        FOR hold IN
          SELECT held.*, budget.unit FROM budget_holds held JOIN budgets budget ON budget.id = held.budget_id
           WHERE held.call_id = call ORDER BY budget.rank, budget.id
        LOOP
          DELETE FROM budget_holds WHERE call_id = call AND budget_id = hold.budget_id;
          CONTINUE WHEN NOT FOUND;
          UPDATE budget_periods
             SET held = held - hold.amount, settled = settled + coalesce((taken->>hold.unit)::numeric, 0)
           WHERE budget_id = hold.budget_id AND start = hold.start;
        END LOOP;
      END $$;
    `);
  }
}
