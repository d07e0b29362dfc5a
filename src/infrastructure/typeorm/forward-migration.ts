import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration that cannot be reverted, because that would lose data. An operator restores a backup instead. */
export abstract class ForwardMigration implements MigrationInterface {
  abstract readonly name: string;

  abstract up(runner: QueryRunner): Promise<void>;

  async down(): Promise<never> {
    throw new Error(`${this.name} cannot be reverted: restore a backup from before it`);
  }
}
