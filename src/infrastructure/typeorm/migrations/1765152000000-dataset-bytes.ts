import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Stores the length of a dataset's records, so that the service knows the needed memory before it reads them. */
export class DatasetBytes1765152000000 extends ForwardMigration {
  readonly name = 'DatasetBytes1765152000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE datasets ADD COLUMN bytes integer;
      ALTER TABLE dataset_versions ADD COLUMN bytes integer;
      UPDATE dataset_versions v SET bytes = octet_length(c.records::text) FROM dataset_contents c
        WHERE c.dataset_id = v.dataset_id AND c.version = v.content_version;
      UPDATE datasets d SET bytes = v.bytes FROM dataset_versions v
        WHERE v.dataset_id = d.id AND v.version = d.version;
      ALTER TABLE datasets ALTER COLUMN bytes SET NOT NULL;
      ALTER TABLE dataset_versions ALTER COLUMN bytes SET NOT NULL;
    `);
  }
}
