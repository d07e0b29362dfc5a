import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Adds the calls that projects keep, and the feedback on them. A call has a copy of the figures of its job, because jobs
 * are kept for another time. Projects and accounts can have very many calls. So no foreign key deletes the calls with them,
 * and a task of the work queue does.
 *
 * `search` has the words of the first part of a content, and marks: the spans of time that the call is in, its account,
 * key, model and status. Marks have a space, so they are no words. An index of words has no order. With the marks, a
 * search reads one span after the other, from the newest on, and in each only the calls that have all that is looked for.
 */
export class Calls1766620800000 extends ForwardMigration {
  readonly name = 'Calls1766620800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE calls (
        id text COLLATE "C" PRIMARY KEY,
        answer_id text COLLATE "C",
        team_id text COLLATE "C" NOT NULL,
        project_id text COLLATE "C" NOT NULL,
        account_id text COLLATE "C" NOT NULL,
        key_id text COLLATE "C",
        model_id text COLLATE "C",
        kind text COLLATE "C" NOT NULL,
        status text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        started_at timestamptz,
        finished_at timestamptz NOT NULL,
        usage json,
        cost numeric(27, 9),
        content text COLLATE "C" NOT NULL,
        request json,
        answer json,
        truncated boolean NOT NULL,
        expires_at timestamptz NOT NULL,
        -- The bytes of the content.
        stored_bytes integer NOT NULL,
        search tsvector NOT NULL
      );
      CREATE FUNCTION call_span(bits integer, second bigint, project text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
        SELECT 't' || bits || ' ' || (second >> bits) || ' ' || project $$;
      CREATE FUNCTION call_marks(project text, at timestamptz, account text, key text, model text, status text)
      RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
        SELECT array_remove(ARRAY[call_span(12, floor(extract(epoch FROM at))::bigint, project),
          call_span(17, floor(extract(epoch FROM at))::bigint, project),
          'a ' || account, 'k ' || key, 'm ' || model, 's ' || status], NULL) $$;
      CREATE INDEX calls_of_project ON calls (project_id, created_at, id);
      CREATE INDEX calls_of_account ON calls (account_id, project_id, created_at, id);
      CREATE INDEX calls_by_answer ON calls (answer_id) WHERE answer_id IS NOT NULL;
      CREATE INDEX calls_by_end ON calls (expires_at);
      CREATE INDEX calls_by_word ON calls USING gin (search);
      -- The history of an account's feedback on a call. The last one counts.
      CREATE TABLE call_feedback (
        id text COLLATE "C" PRIMARY KEY,
        call_id text COLLATE "C" NOT NULL REFERENCES calls ON DELETE CASCADE,
        project_id text COLLATE "C" NOT NULL,
        account_id text COLLATE "C" NOT NULL REFERENCES accounts ON DELETE CASCADE,
        key_id text COLLATE "C",
        score double precision,
        label text,
        comment text,
        correction json,
        bytes integer NOT NULL,
        created_at timestamptz NOT NULL,
        is_current boolean NOT NULL,
        -- The arrival of the call, so that an index has the order of the list of calls. A trigger sets it.
        called_at timestamptz
      );
      CREATE FUNCTION note_arrival_of_call() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          SELECT created_at INTO NEW.called_at FROM calls WHERE id = NEW.call_id;
          RETURN NEW;
        END $$;
      CREATE TRIGGER arrival_of_call BEFORE INSERT ON call_feedback FOR EACH ROW EXECUTE FUNCTION note_arrival_of_call();
      CREATE INDEX feedback_of_call ON call_feedback (call_id, id);
      CREATE UNIQUE INDEX feedback_that_counts ON call_feedback (call_id, account_id) WHERE is_current;
      CREATE INDEX feedback_of_account ON call_feedback (account_id);
      CREATE INDEX feedback_by_score ON call_feedback (project_id, score, called_at, call_id)
        WHERE is_current AND score IS NOT NULL;
      CREATE INDEX feedback_by_label ON call_feedback (project_id, label, called_at, call_id)
        WHERE is_current AND label IS NOT NULL;
    `);
  }
}
