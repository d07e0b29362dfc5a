import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

/** Lets a deployment be a model on an engine elsewhere. Existing deployments stay model files. */
export class RemoteDeployments1765324800000 extends ForwardMigration {
  readonly name = 'RemoteDeployments1765324800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE deployments
        ALTER COLUMN model_path DROP NOT NULL,
        ADD COLUMN endpoint text,
        ADD COLUMN model_name text,
        ADD COLUMN model_version text,
        ADD COLUMN key_setting text,
        ADD CHECK ((model_path IS NULL) <> (endpoint IS NULL)),
        ADD CHECK ((model_name IS NULL) = (endpoint IS NULL));
    `);
  }
}
