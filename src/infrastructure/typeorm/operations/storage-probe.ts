import { injectable } from 'inversify';
import { DataSource } from 'typeorm';
import type { StorageProbe } from '../../../application/operations/ports.js';
import { StorageUnavailable } from '../../../domain/shared/errors.js';
import { isMissingTable } from '../storage-errors.js';

@injectable()
export class TypeOrmStorageProbe implements StorageProbe {
  constructor(private readonly source: DataSource) {}

  async check(): Promise<void> {
    const done = await this.migrationsDone();
    const upToDate = this.source.migrations.every(({ name }) => done.some((one) => one.name === name));
    if (!upToDate) throw new StorageUnavailable('its tables are not up to date');
  }

  /** By SQL, since the ORM's `showMigrations` leaks its connection when it fails. */
  private async migrationsDone(): Promise<{ name: string }[]> {
    try {
      return await this.source.query('SELECT name FROM migrations');
    } catch (error) {
      if (isMissingTable(error)) return [];
      throw new StorageUnavailable();
    }
  }
}
