import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds the audit trail. It has no foreign keys, because its entries must outlive accounts, teams and objects. */
export class Audit1764633600000 extends ForwardMigration {
  readonly name = 'Audit1764633600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE audit_entries (
        id text COLLATE "C" PRIMARY KEY,
        created_at timestamptz NOT NULL,
        actor_kind text COLLATE "C" NOT NULL,
        actor_id text COLLATE "C",
        actor_name text,
        credential_id text COLLATE "C",
        action text COLLATE "C" NOT NULL,
        object_id text COLLATE "C" NOT NULL,
        object_name text,
        team_id text COLLATE "C",
        request_id text COLLATE "C",
        details json NOT NULL
      );
      CREATE INDEX audit_entries_of_team ON audit_entries (team_id, id);
      CREATE INDEX audit_entries_of_actor ON audit_entries (actor_id, id);
      CREATE INDEX audit_entries_of_object ON audit_entries (object_id, id);
      CREATE INDEX audit_entries_by_action ON audit_entries (action, id);
      CREATE INDEX audit_entries_by_time ON audit_entries (created_at);

      CREATE FUNCTION refuse_to_change_audit_entries() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'audit_entries is append-only: % is refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
      END $$;
      CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_change_audit_entries();
      ALTER TABLE audit_entries ENABLE ALWAYS TRIGGER audit_entries_append_only;
    `);
  }
}
