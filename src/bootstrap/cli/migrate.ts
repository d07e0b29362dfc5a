import { migrate } from '../../infrastructure/typeorm/migrate.js';
import type { Called } from '../../interfaces/cli/arguments.js';
import type { Terminal } from '../../interfaces/cli/terminal.js';
import type { Config } from '../config/config.js';
import { makeDataFolder } from '../data-folder.js';
import { reachDatabase } from './reach-database.js';
import { recordOfDatabase } from './workshop.js';

export async function migrateDatabase(config: Config, _: Called, terminal: Terminal): Promise<void> {
  makeDataFolder(config);
  const reached = await reachDatabase(config, { make: true });
  try {
    const done = await migrate(reached.url);
    if (done.length > 0) {
      await recordOfDatabase(config, reached.url, 'database.migrated', { migrations: done.join(', ') });
    }
    terminal.out(done.length === 0 ? 'the tables are up to date' : `done: ${done.join(', ')}`);
  } finally {
    await reached.close();
  }
}
