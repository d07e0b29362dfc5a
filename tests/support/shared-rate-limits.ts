import type { RateLimitKey } from '../../src/application/operations/ports.js';
import { keyedDigest } from '../../src/infrastructure/crypto/secrets.js';
import { LeasedRateLimitStore } from '../../src/infrastructure/rate-limit/leased-rate-limit-store.js';
import type { LedgerAsk, RateLimitLedger } from '../../src/infrastructure/rate-limit/rate-limit-ledger.js';
import { createDataSource, type DataSource } from '../../src/infrastructure/typeorm/data-source.js';
import { PostgresRateLimitLedger } from '../../src/infrastructure/typeorm/operations/rate-limits.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { freshDatabase, query, type TestDatabase } from './database.js';
import { RecordingLog } from './recording-log.js';

/** A ledger that can be out of reach, and counts its statements and keeps the last asks. */
class WatchedLedger implements RateLimitLedger {
  statements = 0;
  asks: readonly LedgerAsk[] = [];
  /** Runs before each statement. */
  before: () => Promise<void> = async () => undefined;

  constructor(private readonly ledger: RateLimitLedger) {}

  keyOf(key: RateLimitKey): string {
    return this.ledger.keyOf(key);
  }

  instances(): Promise<number> {
    return this.ledger.instances();
  }

  async ask(asks: readonly LedgerAsk[], reservedMs: number) {
    this.statements++;
    this.asks = asks;
    await this.before();
    return this.ledger.ask(asks, reservedMs);
  }
}

export interface SharedStore {
  readonly store: LeasedRateLimitStore;
  readonly ledger: WatchedLedger;
  readonly log: RecordingLog;
}

const INSTANCES = 3;

/** Opens stores on one database. The tests move its clock, and that of all stores. */
export class SharedRateLimits {
  private elapsed = 1_000_000;
  private opened = 0;

  private constructor(
    private readonly database: TestDatabase,
    private readonly sources: readonly DataSource[],
  ) {}

  static async open(): Promise<SharedRateLimits> {
    const database = await freshDatabase();
    // Names of the schema `manual` win over those of PostgreSQL.
    await query(
      database.url,
      `CREATE SCHEMA manual;
       CREATE TABLE manual.clock AS SELECT timestamptz '2026-03-01T12:00:00Z' AS time;
       CREATE FUNCTION manual.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT time FROM manual.clock'`,
    );
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=manual,public,pg_catalog');
    const sources = Array.from({ length: INSTANCES }, () => createDataSource(url.href, 4).initialize());
    return new SharedRateLimits(database, await Promise.all(sources));
  }

  get url(): string {
    return this.database.url;
  }

  /** Opens the store of a new instance. */
  store({ patienceMs = 20_000 } = {}): SharedStore {
    const source = this.sources[this.opened++ % INSTANCES] as DataSource;
    const digest = keyedDigest('a secret of the tests', 'rate limits');
    const ledger = new WatchedLedger(
      new PostgresRateLimitLedger(new TypeOrmUnitOfWork(source), digest, `instance ${this.opened}`),
    );
    const log = new RecordingLog();
    const store = new LeasedRateLimitStore({ ledger, logger: log, patienceMs, now: () => this.elapsed });
    return { store, ledger, log };
  }

  /** Lets the database have the reports of so many instances, and some old ones. */
  async report(instances: number): Promise<void> {
    await query(this.url, 'DELETE FROM instances');
    await query(
      this.url,
      `INSERT INTO instances (number, name, version, since, state, runtimes, deployments, waiting_calls, memory_bytes,
                              reported_at)
       SELECT number, 'instance', '0', now(), 'ready', '[]', '[]', 0, 0,
              now() - CASE WHEN number > $1 THEN interval '1 minute' ELSE interval '0' END
         FROM generate_series(1, $1 + 3) AS number`,
      [instances],
    );
  }

  /** Moves all clocks. */
  async advance(ms: number): Promise<void> {
    this.elapsed += ms;
    await this.moveDatabase(ms);
  }

  /** Moves only the clock of the database. */
  async moveDatabase(ms: number): Promise<void> {
    await query(this.url, "UPDATE manual.clock SET time = time + $1 * interval '1 ms'", [ms]);
  }

  async rows<Row extends object>(): Promise<Row[]> {
    return query<Row>(this.url, 'SELECT * FROM rate_limits ORDER BY key, policy');
  }

  async empty(): Promise<void> {
    await query(this.url, 'DELETE FROM rate_limits');
  }

  async close(): Promise<void> {
    for (const source of this.sources) await source.destroy();
    await this.database.drop();
  }
}
