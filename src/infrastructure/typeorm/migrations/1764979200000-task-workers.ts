import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tells which instance each worker of the queue belongs to. */
export class TaskWorkers1764979200000 implements MigrationInterface {
  readonly name = 'TaskWorkers1764979200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE task_workers (
        id text COLLATE "C" PRIMARY KEY,
        instance integer NOT NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE task_workers');
  }
}
