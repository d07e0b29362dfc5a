import { rm } from 'node:fs/promises';
import type { Container } from 'inversify';
import { Clock } from '../../src/application/shared/ports.js';
import { type App, startApp } from '../../src/bootstrap/app.js';
import { loadConfig } from '../../src/bootstrap/config/config.js';
import { ManualClock } from '../fakes/shared/manual-clock.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { HttpCaller } from './http-caller.js';
import { temporaryFolder } from './service.js';

/** The service within the test's own process, called over HTTP, with a clock that the test sets. */
export class ClockedApp extends HttpCaller {
  private constructor(
    private readonly app: App,
    readonly databaseUrl: string,
    private readonly database: TestDatabase | null,
    readonly dataDir: string,
    readonly clock: ManualClock,
  ) {
    super(app.url);
  }

  /** On a database of its own, or on another one's. */
  static async start(
    env: Readonly<Record<string, string>>,
    adapt: (container: Container) => void = () => undefined,
    others: string | null = null,
  ) {
    const database = others === null ? await freshDatabase() : null;
    const databaseUrl = others ?? (database as TestDatabase).url;
    const dataDir = await temporaryFolder();
    const clock = new ManualClock(new Date());
    const config = loadConfig({
      SERVICE_DATA_DIR: dataDir,
      SERVICE_PORT: '0',
      SERVICE_BCRYPT_COST: '4',
      SERVICE_LOG_LEVEL: 'error',
      DATABASE_URL: databaseUrl,
      ...env,
    });
    const app = await startApp(config, {
      adapt: (container) => {
        container.rebind(Clock).toConstantValue(clock);
        adapt(container);
      },
    });
    return new ClockedApp(app, databaseUrl, database, dataDir, clock);
  }

  async stop(): Promise<void> {
    await this.app.stop();
    await this.database?.drop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}
