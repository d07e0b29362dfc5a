import { Audit } from '../../application/audit/audit.js';
import { migrate } from '../../infrastructure/typeorm/migrate.js';
import { TypeOrmUnitOfWork } from '../../infrastructure/typeorm/typeorm-unit-of-work.js';
import type { Called } from '../../interfaces/cli/arguments.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { makeDataFolder } from '../data-folder.js';
import { reachDatabase } from './reach-database.js';
import { commandLineActor, withParts } from './workshop.js';

export async function migrateDatabase(config: Config, _: Called, terminal: Terminal): Promise<void> {
  makeDataFolder(config);
  const reached = await reachDatabase(config, { make: true });
  try {
    const done = await migrate(reached.url);
    if (done.length > 0) {
      await withParts(config, reached.url, (parts) => {
        const details = { migrations: done.join(', ') };
        const object = { id: databaseName(reached.url) };
        const act = { by: commandLineActor(), action: 'database.migrated', object, details } as const;
        return parts.get(TypeOrmUnitOfWork).run(() => parts.get(Audit).record(act));
      });
    }
    terminal.out(done.length === 0 ? 'the tables are up to date' : `done: ${done.join(', ')}`);
  } finally {
    await reached.close();
  }
}

export const databaseName = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1)) || 'postgres';
