import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

export class TeamAccounts1763942400000 extends ForwardMigration {
  readonly name = 'TeamAccounts1763942400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE teams ADD COLUMN site_key text COLLATE "C" UNIQUE;
      ALTER TABLE accounts ALTER COLUMN password_hash DROP NOT NULL;
      CREATE INDEX accounts_of_team ON accounts (team_id, id);

      ALTER TABLE credentials
        ADD COLUMN name text,
        ADD COLUMN hint text NOT NULL DEFAULT '',
        ADD COLUMN last_used_at timestamptz;
      DROP INDEX credentials_of_account;
      CREATE INDEX credentials_of_account ON credentials (account_id, kind, id);

      ALTER TABLE email_verifications RENAME TO mailed_tokens;
      ALTER INDEX email_verifications_of_account RENAME TO mailed_tokens_of_account;
      ALTER TABLE mailed_tokens
        ADD COLUMN purpose text NOT NULL DEFAULT 'verification' CHECK (purpose IN ('verification', 'reset'));

      CREATE TABLE invites (
        id text COLLATE "C" PRIMARY KEY,
        team_id text COLLATE "C" NOT NULL REFERENCES teams,
        digest text COLLATE "C" NOT NULL UNIQUE,
        sealed_token text NOT NULL,
        email text,
        role text NOT NULL CHECK (role IN ('admin', 'developer', 'member')),
        invited_by text COLLATE "C" NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'redeemed', 'revoked')),
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX invites_pending ON invites (team_id, id) WHERE status = 'pending';

      CREATE TABLE spent_site_tokens (
        jti text COLLATE "C" PRIMARY KEY,
        expires_at timestamptz NOT NULL
      );
      CREATE INDEX spent_site_tokens_expired ON spent_site_tokens (expires_at);
    `);
  }
}
