import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Identifiers sort by time. So their columns compare byte by byte (`C`), independently of the database's locale. */
export class Foundation1763683200000 extends ForwardMigration {
  readonly name = 'Foundation1763683200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE teams (
        id text COLLATE "C" PRIMARY KEY,
        operator boolean NOT NULL,
        created_at timestamptz NOT NULL
      );
      CREATE UNIQUE INDEX teams_one_operator ON teams (operator) WHERE operator;

      CREATE TABLE accounts (
        id text COLLATE "C" PRIMARY KEY,
        team_id text COLLATE "C" NOT NULL REFERENCES teams,
        name text NOT NULL,
        email text NOT NULL,
        email_key text COLLATE "C" NOT NULL UNIQUE,
        role text NOT NULL CHECK (role IN ('admin', 'developer', 'member')),
        password_hash text NOT NULL,
        email_verified_at timestamptz,
        created_at timestamptz NOT NULL
      );

      CREATE TABLE credentials (
        id text COLLATE "C" PRIMARY KEY,
        kind text NOT NULL CHECK (kind IN ('session', 'api_key')),
        account_id text COLLATE "C" NOT NULL REFERENCES accounts ON DELETE CASCADE,
        digest text COLLATE "C" NOT NULL UNIQUE,
        origin text NOT NULL,
        created_at timestamptz NOT NULL,
        expires_at timestamptz
      );
      CREATE INDEX credentials_of_account ON credentials (account_id);

      CREATE TABLE email_verifications (
        id text COLLATE "C" PRIMARY KEY,
        account_id text COLLATE "C" NOT NULL REFERENCES accounts ON DELETE CASCADE,
        digest text COLLATE "C" NOT NULL UNIQUE,
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        used_at timestamptz
      );
      CREATE INDEX email_verifications_of_account ON email_verifications (account_id);

      CREATE TABLE outbox (
        id text COLLATE "C" PRIMARY KEY,
        sealed text,
        failures integer NOT NULL DEFAULT 0,
        due_at timestamptz NOT NULL,
        delivered_at timestamptz,
        CHECK (delivered_at IS NULL OR sealed IS NULL)
      );
      CREATE INDEX outbox_due ON outbox (due_at) WHERE delivered_at IS NULL;

      CREATE TABLE projects (
        id text COLLATE "C" PRIMARY KEY,
        team_id text COLLATE "C" NOT NULL REFERENCES teams,
        name text NOT NULL,
        version integer NOT NULL,
        spec json NOT NULL,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        reviewed_version integer
      );
      CREATE INDEX projects_of_team ON projects (team_id, id);

      CREATE TABLE models (
        id text COLLATE "C" PRIMARY KEY,
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        request_id uuid NOT NULL,
        version integer NOT NULL,
        state text NOT NULL CHECK (state IN ('draft', 'registered')),
        spec json NOT NULL,
        requested_spec text NOT NULL,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL,
        registered_at timestamptz,
        UNIQUE (project_id, request_id)
      );

      CREATE TABLE runtime_connections (
        project_id text COLLATE "C" PRIMARY KEY REFERENCES projects ON DELETE CASCADE,
        model_id text COLLATE "C" NOT NULL REFERENCES models ON DELETE CASCADE,
        wanted text NOT NULL CHECK (wanted IN ('started', 'stopped'))
      );
    `);
  }
}
