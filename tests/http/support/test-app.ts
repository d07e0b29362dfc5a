import { once } from 'node:events';
import { Agent, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import type { Container } from 'inversify';
import supertest from 'supertest';
import type { AccountChange } from '../../../src/application/accounts/ports.js';
import { ChatRuntimes } from '../../../src/application/chat/ports.js';
import { InstanceRegistry } from '../../../src/application/jobs/ports.js';
import { Clock } from '../../../src/application/shared/ports.js';
import { loadConfig } from '../../../src/bootstrap/config/config.js';
import { createContainer } from '../../../src/bootstrap/container.js';
import { httpApp, httpServer } from '../../../src/bootstrap/http.js';
import { modelStorage } from '../../../src/bootstrap/model-storage.js';
import { runningFields } from '../../../src/bootstrap/telemetry.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { GracefulShutdown } from '../../../src/interfaces/http/server.js';
import { MemoryChatRuntimes } from '../../fakes/chat/memory-chat-runtimes.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { type Answer, type CallOptions, HttpCaller, note } from '../../support/http-caller.js';
import { type Repositories, repositoriesOf } from '../../support/repositories.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { moveToOwnTeam, register } from '../../support/workspace.js';

export interface TestAppOptions {
  /** Settings of the service. */
  readonly env?: Readonly<Record<string, string>>;
  /** Rebinds ports before the app is created. */
  readonly adapt?: (container: Container) => void;
  /** Options of Node's server, such as time-outs. */
  readonly server?: object;
}

/** The tests of a file call an app one after another. */
const CONNECTIONS = 5;

/**
 * Runs the Express app of the service on a PostgreSQL database of its own, and calls it with supertest. Chat runtimes and the clock are fakes.
 * The background work does not run. The first account that registers is the admin of the operator team, as in a new
 * service.
 *
 * Start one app for a file or a `describe`, and give each test a project or a team of its own. Start another app only
 * if a test needs other settings, or counts what the whole service has, such as accounts, rules or alerts.
 */
export class TestApp extends HttpCaller {
  /** Keeps connections open: a new one for each call takes up to a fifth of the processor time. */
  private readonly agent = new Agent({ keepAlive: true });

  private constructor(
    readonly app: Express,
    readonly server: Server,
    readonly shutdown: GracefulShutdown,
    readonly container: Container,
    readonly store: Repositories,
    readonly clock: ManualClock,
    readonly logger: MemoryLogger,
    readonly database: TestDatabase,
    readonly source: DataSource,
    readonly folder: TemporaryFolder,
  ) {
    super(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  static async start({ env = {}, adapt, server: options }: TestAppOptions = {}): Promise<TestApp> {
    const folder = new TemporaryFolder();
    const config = loadConfig({
      SERVICE_SECRET: 'a-secret-of-the-tests',
      SERVICE_RATE_LIMIT_PER_MIN: '1000000',
      SERVICE_RATE_LIMIT_AUTH_PER_MIN: '1000000',
      SERVICE_BCRYPT_COST: '4',
      SERVICE_DATA_DIR: folder.path,
      ...env,
    });
    const logger = new MemoryLogger(runningFields);
    const clock = new ManualClock(new Date());
    const database = await freshDatabase();
    const source = await createDataSource(database.url, CONNECTIONS).initialize();
    const models = await modelStorage(config);
    const container = createContainer({ config, database: source, logger, models });
    container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes());
    container.rebind(Clock).toConstantValue(clock);
    adapt?.(container);
    const store = repositoriesOf(container);
    const app = httpApp(container, config);
    const server = httpServer(app, container, config, options);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const shutdown = container.get(GracefulShutdown);
    return new TestApp(app, server, shutdown, container, store, clock, logger, database, source, folder);
  }

  /** Starts the app with an account of each role, and with a stranger, the admin of another team. */
  static async withTeam(options: TestAppOptions = {}) {
    const app = await TestApp.start({ ...options, env: { SERVICE_MAX_ACCOUNTS: '9', ...options.env } });
    const admin = await register(app, 'Ada');
    const developer = await register(app, 'Dan');
    const member = await register(app, 'Mia');
    const stranger = await register(app, 'Eve');
    await app.setAccount(developer.id, { role: 'developer' });
    await app.moveToOwnTeam(stranger.id);
    return { app, admin, developer, member, stranger };
  }

  override async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { token, json, raw, headers = {}, signal } = options;
    const body = json === undefined ? raw : JSON.stringify(json);
    const name = method.toLowerCase() as 'get';
    let sent = supertest(this.server)[name](path).agent(this.agent);
    if (token !== undefined) sent = sent.set('Authorization', `Bearer ${token}`);
    if (body !== undefined) sent = sent.set('Content-Type', 'application/json');
    signal?.addEventListener('abort', () => void sent.abort());
    const bytes = typeof body === 'string' ? body : body && Buffer.from(body);
    const response = await sent
      .set(headers)
      .serialize((data) => data)
      .send(bytes);
    const isJson = response.type === 'application/json';
    const answer = {
      status: response.status,
      headers: new Headers(response.headers),
      body: isJson && method !== 'HEAD' ? response.body : (response.text ?? ''),
    };
    note(method, path, answer);
    return answer;
  }

  async verifyEmails(): Promise<void> {
    for (const { id } of await this.store.accounts.all({ limit: 100, after: null })) {
      await this.store.accounts.change(id, { emailVerifiedAt: this.clock.now() });
    }
  }

  moveToOwnTeam = (accountId: string): Promise<void> => moveToOwnTeam(this.database.url, accountId);

  setAccount = (accountId: string, change: AccountChange): Promise<void> =>
    this.store.accounts.change(accountId, change);

  async stop(): Promise<void> {
    this.agent.destroy();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.container.get(InstanceRegistry).leave();
    await this.source.destroy();
    await this.database.drop();
    this.folder.remove();
  }
}
