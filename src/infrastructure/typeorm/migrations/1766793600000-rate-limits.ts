import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds the common counts of the rate limits. A row has the calls of a caller under one policy within the last minute,
 * and the leases that instances have on its remaining calls. Times are milliseconds of this server's clock.
 *
 * The table is unlogged: no statement waits for the disk. A crash of PostgreSQL empties it, and so does a failover to
 * another server. Each caller then has its whole limit again.
 *
 * `take_rate_limits` answers many asks, one after another. An ask reports the calls that were made from the lease,
 * counts `calls` further ones under all its limits, as many of them as fit, and renews the lease:
 * - The row of each limit stays locked until the end, so that no two instances admit the same call.
 * - `held` is the part of the lease that the instance keeps. Null leaves the lease as it is.
 * - At most a twentieth of a limit is leased. The instances that have asked lately share it equally, and a new one
 *   leaves a share for the next. Of the free calls, a lease gets at most a quarter. A lease of a single call would save
 *   nothing, so it is not made.
 * - A clock that was set back by up to a minute stands still meanwhile. After a longer step, the counts begin anew.
 *
 * An instance orders its asks so that no two instances wait for each other (`LeasedRateLimitStore`).
 */
export class RateLimits1766793600000 extends ForwardMigration {
  readonly name = 'RateLimits1766793600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE UNLOGGED TABLE rate_limits (
        key text NOT NULL,
        policy text NOT NULL,
        times bigint[] NOT NULL DEFAULT '{}', -- of the last call in each half second, oldest first
        counts integer[] NOT NULL DEFAULT '{}', -- the calls in each half second
        total integer NOT NULL DEFAULT 0, -- the sum of the counts
        holders text[] NOT NULL DEFAULT '{}',
        leased integer[] NOT NULL DEFAULT '{}', -- the calls of each holder
        ends bigint[] NOT NULL DEFAULT '{}', -- the end of the lease of each holder
        expires_at timestamptz NOT NULL, -- changes at most once a minute, because it has an index
        PRIMARY KEY (key, policy)
      ) WITH (fillfactor = 50);
      CREATE INDEX rate_limits_expires_at ON rate_limits (expires_at);

      CREATE FUNCTION take_rate_limits(holder text, reserved_ms integer, asks jsonb)
      RETURNS TABLE (admitted integer, limits jsonb) LANGUAGE plpgsql AS $$
      DECLARE
        ask jsonb;
        part jsonb;
        pair jsonb;
        size integer;
        added integer := 0; -- rows
        one rate_limits;
        rows rate_limits[]; -- by the places of the limits
        moments bigint[];
        others integer[]; -- calls that other instances have leased
        active integer[]; -- instances that have asked lately
        is_new boolean[]; -- this one is not among them
        held integer[];
        free integer[];
        moment bigint;
        told bigint;
        last bigint;
        own integer;
        own_end bigint;
        gone integer;
        place integer;
        share integer;
        granted integer;
        kept_holders text[];
        kept_leased integer[];
        kept_ends bigint[];
      BEGIN
        FOR ask IN SELECT value FROM jsonb_array_elements(asks) LOOP
          size := jsonb_array_length(ask->'limits');
          rows := '{}';
          FOR nth IN 1 .. size LOOP
            part := ask->'limits'->(nth - 1);
            SELECT * INTO one FROM rate_limits WHERE key = ask->>'key' AND policy = part->>'policy' FOR UPDATE;
            IF NOT FOUND AND (ask->>'calls' <> '0' OR (part->>'wants')::boolean OR part->'used' <> '[]') THEN
              added := added + 1;
              INSERT INTO rate_limits (key, policy, expires_at)
              VALUES (ask->>'key', part->>'policy', clock_timestamp() + interval '150 seconds')
              ON CONFLICT (key, policy) DO UPDATE SET policy = excluded.policy RETURNING * INTO one;
            END IF;
            rows[nth] := one;
          END LOOP;
          last := floor(extract(epoch FROM clock_timestamp()) * 1000);
          admitted := (ask->>'calls')::integer;

          FOR nth IN 1 .. size LOOP
            part := ask->'limits'->(nth - 1);
            one := rows[nth];
            moment := last;
            IF one.times[cardinality(one.times)] > moment + 60000 THEN
              one.times := '{}'; one.counts := '{}'; one.total := 0;
            END IF;
            moment := greatest(moment, one.times[cardinality(one.times)]);
            gone := 0;
            WHILE one.times[gone + 1] <= moment - 60000 LOOP
              gone := gone + 1;
              one.total := one.total - one.counts[gone];
            END LOOP;
            IF gone > 0 THEN
              one.times := one.times[gone + 1:]; one.counts := one.counts[gone + 1:];
            END IF;
            FOR pair IN SELECT value FROM jsonb_array_elements(part->'used') LOOP
              told := moment - (pair->>0)::bigint;
              CONTINUE WHEN told <= moment - 60000;
              place := cardinality(one.times);
              WHILE place > 0 AND one.times[place] / 500 > told / 500 LOOP
                place := place - 1;
              END LOOP;
              IF place > 0 AND one.times[place] / 500 = told / 500 THEN
                one.times[place] := greatest(one.times[place], told);
                one.counts[place] := one.counts[place] + (pair->>1)::integer;
              ELSE
                one.times := one.times[:place] || told || one.times[place + 1:];
                one.counts := one.counts[:place] || (pair->>1)::integer || one.counts[place + 1:];
              END IF;
              one.total := one.total + (pair->>1)::integer;
            END LOOP;

            own := 0;
            own_end := moment + reserved_ms;
            others[nth] := 0;
            active[nth] := 1;
            is_new[nth] := true;
            kept_holders := '{}'; kept_leased := '{}'; kept_ends := '{}';
            FOR place IN 1 .. coalesce(cardinality(one.holders), 0) LOOP
              CONTINUE WHEN one.ends[place] <= moment OR one.ends[place] > moment + reserved_ms;
              IF one.holders[place] = holder THEN
                own := one.leased[place]; own_end := one.ends[place]; is_new[nth] := false;
                CONTINUE;
              END IF;
              others[nth] := others[nth] + one.leased[place];
              active[nth] := active[nth] + 1;
              kept_holders := kept_holders || one.holders[place];
              kept_leased := kept_leased || one.leased[place];
              kept_ends := kept_ends || one.ends[place];
            END LOOP;
            held[nth] := coalesce((part->>'held')::integer, own);
            IF part->>'held' IS NULL AND own > 0 THEN
              kept_holders := kept_holders || holder; kept_leased := kept_leased || own; kept_ends := kept_ends || own_end;
            END IF;
            one.holders := kept_holders; one.leased := kept_leased; one.ends := kept_ends;
            free[nth] := (part->>'limit')::integer - coalesce(one.total, 0) - others[nth] - held[nth];
            admitted := greatest(0, least(admitted, free[nth]));
            moments[nth] := moment;
            rows[nth] := one;
          END LOOP;

          limits := '[]';
          FOR nth IN 1 .. size LOOP
            part := ask->'limits'->(nth - 1);
            one := rows[nth];
            moment := moments[nth];
            IF admitted > 0 THEN
              one.total := one.total + admitted;
              place := cardinality(one.times);
              IF place > 0 AND one.times[place] / 500 = moment / 500 THEN
                one.times[place] := moment;
                one.counts[place] := one.counts[place] + admitted;
              ELSE
                one.times := one.times || moment; one.counts := one.counts || admitted;
              END IF;
            END IF;
            granted := 0;
            share := (part->>'limit')::integer / 20;
            IF part->>'held' IS NOT NULL AND share > 1 THEN
              IF (part->>'wants')::boolean THEN
                granted := least(greatest(2, share / (active[nth] + is_new[nth]::integer)) - held[nth],
                                 share - others[nth] - held[nth], (free[nth] - admitted) / 4);
                IF granted < 0 OR granted + held[nth] < 2 THEN granted := 0; END IF;
              END IF;
              one.holders := one.holders || holder;
              one.leased := one.leased || (held[nth] + granted);
              one.ends := one.ends || (moment + reserved_ms);
            END IF;
            limits := limits || jsonb_build_object('used', coalesce(one.total, 0), 'reserved', others[nth],
              'granted', granted, 'room', one.times[1] + 60000 - moment);
            CONTINUE WHEN admitted = 0 AND part->>'held' IS NULL AND part->'used' = '[]'; -- nothing has changed
            UPDATE rate_limits
               SET times = one.times, counts = one.counts, total = one.total,
                   holders = one.holders, leased = one.leased, ends = one.ends,
                   expires_at = CASE WHEN expires_at < clock_timestamp() + interval '70 seconds'
                                     THEN clock_timestamp() + interval '150 seconds' ELSE expires_at END
             WHERE key = one.key AND policy = one.policy;
          END LOOP;
          RETURN NEXT;
        END LOOP;

        IF added > 0 THEN -- so new rows make room for themselves
          DELETE FROM rate_limits WHERE (key, policy) IN (
            SELECT key, policy FROM rate_limits WHERE expires_at <= clock_timestamp()
             ORDER BY expires_at LIMIT 2 * added FOR UPDATE SKIP LOCKED);
        END IF;
      END $$;
    `);
  }
}
