import { rm } from 'node:fs/promises';
import { Clock } from '../../src/application/shared/ports/clock.js';
import { type App, startApp } from '../../src/bootstrap/app.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import type { Parts } from '../../src/bootstrap/container.js';
import { ManualClock } from '../../src/infrastructure/memory/shared/manual-clock.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { HttpCaller } from './http-caller.js';
import { temporaryFolder } from './service.js';

/** The service within the test's own process, called over HTTP, with a clock that the test sets. */
export class ClockedApp extends HttpCaller {
  private constructor(
    private readonly app: App,
    private readonly database: TestDatabase,
    readonly dataDir: string,
    readonly clock: ManualClock,
  ) {
    super(app.url);
  }

  static async start(env: Readonly<Record<string, string>>, adapt: (parts: Parts) => void = () => undefined) {
    const database = await freshDatabase();
    const dataDir = await temporaryFolder();
    const clock = new ManualClock(new Date());
    const config = loadConfig({
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PORT: '0',
      SERVICE_BCRYPT_COST: '4',
      SERVICE_LOG_LEVEL: 'error',
      DATABASE_URL: database.url,
      ...env,
    });
    const app = await startApp(config, {
      adapt: (parts) => {
        parts.replace(Clock, clock);
        adapt(parts);
      },
    });
    return new ClockedApp(app, database, dataDir, clock);
  }

  get databaseUrl(): string {
    return this.database.url;
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await this.database.drop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
