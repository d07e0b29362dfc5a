import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Adds a row for every version of a project, a model and a dataset. Such a row never changes. */
export class Workspace1764201600000 extends ForwardMigration {
  readonly name = 'Workspace1764201600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE projects ADD COLUMN updated_by text COLLATE "C";
      UPDATE projects SET updated_by = created_by;
      ALTER TABLE projects ALTER COLUMN updated_by SET NOT NULL;
      CREATE TABLE project_versions (
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        version integer NOT NULL,
        name text NOT NULL,
        spec json NOT NULL,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (project_id, version)
      );
      INSERT INTO project_versions SELECT id, version, name, spec, updated_by, updated_at FROM projects;

      ALTER TABLE models ADD COLUMN updated_by text COLLATE "C", ADD COLUMN forked_from json;
      UPDATE models SET updated_by = created_by;
      ALTER TABLE models ALTER COLUMN updated_by SET NOT NULL;
      CREATE INDEX models_of_project ON models (project_id, id);
      CREATE TABLE model_versions (
        model_id text COLLATE "C" NOT NULL REFERENCES models ON DELETE CASCADE,
        version integer NOT NULL,
        spec json NOT NULL,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (model_id, version)
      );
      INSERT INTO model_versions SELECT id, version, spec, updated_by, updated_at FROM models;

      CREATE TABLE model_aliases (
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        alias text COLLATE "C" NOT NULL,
        version integer NOT NULL,
        model_id text COLLATE "C" REFERENCES models ON DELETE CASCADE,
        changed_by text COLLATE "C" NOT NULL,
        changed_at timestamptz NOT NULL,
        PRIMARY KEY (project_id, alias, version)
      );

      CREATE TABLE datasets (
        id text COLLATE "C" PRIMARY KEY,
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        name text NOT NULL,
        version integer NOT NULL,
        state text NOT NULL CHECK (state IN ('editable', 'frozen')),
        record_count integer NOT NULL,
        content_sha256 text COLLATE "C" NOT NULL,
        validation json NOT NULL,
        forked_from json,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        updated_by text COLLATE "C" NOT NULL,
        updated_at timestamptz NOT NULL,
        frozen_at timestamptz
      );
      CREATE INDEX datasets_of_project ON datasets (project_id, id);
      CREATE TABLE dataset_versions (
        dataset_id text COLLATE "C" NOT NULL REFERENCES datasets ON DELETE CASCADE,
        version integer NOT NULL,
        name text NOT NULL,
        record_count integer NOT NULL,
        content_sha256 text COLLATE "C" NOT NULL,
        validation json NOT NULL,
        content_version integer NOT NULL,
        created_by text COLLATE "C" NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (dataset_id, version)
      );
      CREATE TABLE dataset_contents (
        dataset_id text COLLATE "C" NOT NULL REFERENCES datasets ON DELETE CASCADE,
        version integer NOT NULL,
        records json NOT NULL,
        PRIMARY KEY (dataset_id, version)
      );

      CREATE TABLE conversations (
        id text COLLATE "C" PRIMARY KEY,
        project_id text COLLATE "C" NOT NULL REFERENCES projects ON DELETE CASCADE,
        account_id text COLLATE "C" NOT NULL REFERENCES accounts ON DELETE CASCADE,
        title text NOT NULL,
        message_count integer NOT NULL,
        created_at timestamptz NOT NULL,
        updated_at timestamptz NOT NULL
      );
      CREATE INDEX conversations_of_account ON conversations (account_id, project_id, id);
      CREATE INDEX conversations_of_project ON conversations (project_id);
      CREATE TABLE conversation_messages (
        conversation_id text COLLATE "C" NOT NULL REFERENCES conversations ON DELETE CASCADE,
        number integer NOT NULL,
        role text NOT NULL,
        content text NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (conversation_id, number)
      );
    `);
  }
}
