import type { QueryRunner } from 'typeorm';
import { ForwardMigration } from '../forward-migration.js';

export class Deployments1764288000000 extends ForwardMigration {
  readonly name = 'Deployments1764288000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE deployments (
        id text COLLATE "C" PRIMARY KEY,
        name text NOT NULL,
        model_path text NOT NULL,
        max_batch integer,
        max_delay_ms integer,
        created_by text COLLATE "C",
        created_at timestamptz NOT NULL,
        last_port integer NOT NULL
      );
    `);
  }
}
