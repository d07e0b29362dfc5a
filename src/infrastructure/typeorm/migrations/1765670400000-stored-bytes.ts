import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Stores with each object how many bytes it takes with all its versions or messages, so that quotas need not read them.
 * The indexes of models and datasets contain the figures, so that a sum reads no specs. The defaults serve instances of an earlier version,
 * which may still write. 200 is `ROW_BYTES`.
 */
export class StoredBytes1765670400000 extends ForwardMigration {
  readonly name = 'StoredBytes1765670400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE projects ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
      ALTER TABLE models ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
      ALTER TABLE datasets ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
      ALTER TABLE dataset_contents ADD COLUMN bytes integer NOT NULL DEFAULT 0;
      ALTER TABLE conversations ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
      UPDATE projects p SET stored_bytes = v.bytes FROM (
        SELECT project_id, sum(octet_length(spec::text) + 200) AS bytes FROM project_versions GROUP BY project_id
      ) v WHERE v.project_id = p.id;
      UPDATE models m SET stored_bytes = v.bytes FROM (
        SELECT model_id, sum(octet_length(spec::text) + 200) AS bytes FROM model_versions GROUP BY model_id
      ) v WHERE v.model_id = m.id;
      UPDATE dataset_contents c SET bytes = v.bytes FROM dataset_versions v
        WHERE v.dataset_id = c.dataset_id AND v.content_version = c.version;
      UPDATE datasets d SET stored_bytes = c.bytes FROM (
        SELECT dataset_id, sum(bytes + 200) AS bytes FROM dataset_contents GROUP BY dataset_id
      ) c WHERE c.dataset_id = d.id;
      UPDATE conversations c SET stored_bytes = m.bytes FROM (
        SELECT conversation_id, sum(octet_length(content) + 200) AS bytes FROM conversation_messages GROUP BY conversation_id
      ) m WHERE m.conversation_id = c.id;
      DROP INDEX models_of_project, datasets_of_project;
      CREATE INDEX models_of_project ON models (project_id, id) INCLUDE (stored_bytes);
      CREATE INDEX datasets_of_project ON datasets (project_id, id) INCLUDE (stored_bytes);
    `);
  }
}
