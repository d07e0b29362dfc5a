import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/**
 * Stores each record of a dataset as a row. A version lists chunks, and a chunk lists the numbers of records.
 *
 * The content of earlier versions is moved later, while the service runs (`OldContents`). The renamed table and column
 * keep instances of an earlier release from reading or writing records in the old form: these calls fail there with
 * `instance_outdated`.
 */
export class DatasetRecords1766534400000 extends ForwardMigration {
  readonly name = 'DatasetRecords1766534400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE SEQUENCE dataset_blocks AS bigint;
      CREATE TABLE dataset_records (
        dataset_id text COLLATE "C" NOT NULL,
        number bigint NOT NULL,
        record_id text COLLATE "C" NOT NULL,
        "group" text,
        input json NOT NULL,
        expected json NOT NULL,
        fields json NOT NULL,
        origin json,
        bytes integer NOT NULL,
        digest bytea NOT NULL,
        text_digest bytea NOT NULL,
        findings smallint NOT NULL,
        canonical boolean NOT NULL,
        PRIMARY KEY (dataset_id, number)
      );
      CREATE INDEX dataset_records_by_id ON dataset_records (dataset_id, record_id);
      CREATE INDEX dataset_records_by_digest ON dataset_records (dataset_id, digest);
      CREATE TABLE dataset_chunks (
        dataset_id text COLLATE "C" NOT NULL,
        number bigint NOT NULL,
        records bigint[] NOT NULL,
        PRIMARY KEY (dataset_id, number)
      );
      CREATE TABLE dataset_leftovers (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        dataset_id text COLLATE "C" NOT NULL,
        first_number bigint,
        last_number bigint,
        records bigint[],
        chunks bigint[],
        due_at timestamptz NOT NULL
      );
      CREATE INDEX dataset_leftovers_by_due_at ON dataset_leftovers (due_at);

      ALTER TABLE dataset_contents RENAME TO dataset_old_contents;
      ALTER TABLE dataset_versions RENAME COLUMN content_version TO old_content_version;
      ALTER TABLE dataset_versions ALTER COLUMN old_content_version DROP NOT NULL,
        ALTER COLUMN content_sha256 DROP NOT NULL,
        ADD COLUMN chunks bigint[], ADD COLUMN sizes integer[];
      ALTER TABLE datasets ALTER COLUMN content_sha256 DROP NOT NULL;

      CREATE FUNCTION dataset_left_over() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO dataset_leftovers (dataset_id, first_number, last_number, due_at)
            VALUES (OLD.id, 0, 9223372036854775807, now());
          RETURN NULL;
        END $$;
      CREATE TRIGGER dataset_left_over AFTER DELETE ON datasets FOR EACH ROW EXECUTE FUNCTION dataset_left_over();
    `);
  }
}
