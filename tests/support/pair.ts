import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { atOnce } from './barrier.js';
import { freshDatabase, query, type TestDatabase } from './database.js';
import { type Answer, type CallOptions, HttpCaller } from './http-caller.js';
import { Service, temporaryFolder } from './service.js';

const PATIENCE_MS = 20_000; // shorter than the timeout of a statement

interface RaceOptions {
  readonly whileHeld?: () => void;
  readonly queued?: number;
}

/** Runs two instances of the service on one database, and more if a test adds them. */
export class Pair {
  private readonly added: Service[] = [];

  private constructor(
    private readonly database: TestDatabase,
    private readonly start: (name: string) => Promise<Service>,
    public one: Service,
    public other: Service,
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}): Promise<Pair> {
    const database = await freshDatabase();
    const dataDir = await temporaryFolder();
    const start = (SERVICE_INSTANCE_NAME: string) =>
      Service.start({
        alone: 'it is one of several',
        databaseUrl: database.url,
        dataDir,
        env: { SERVICE_INSTANCE_NAME, ...env },
      });
    const one = await start('one'); // creates the secret that both share
    return new Pair(database, start, one, await start('other'));
  }

  /** Kills both, and starts one of them again. Then `one` and `other` are the same instance. */
  async restart(): Promise<void> {
    await Promise.all([this.one.kill(), this.other.kill()]);
    this.one = await this.start('one');
    this.other = this.one;
  }

  /** Starts one more instance. */
  async add(name: string): Promise<Service> {
    const service = await this.start(name);
    this.added.push(service);
    return service;
  }

  async stop(): Promise<void> {
    for (const code of await Promise.all(this.running.map((service) => service.stop()))) expect(code).toBe(0);
    await this.database.drop();
    await rm(this.one.dataDir, { recursive: true, force: true });
  }

  private get running(): Service[] {
    return [...new Set([this.one, this.other, ...this.added])];
  }

  of = (party: number): Service => this.running[party % this.running.length] as Service;

  query = <Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    query(this.database.url, sql, values);

  /**
   * Locks `table` against writes until `parties` calls wait for their write, so that all of them have read before any
   * of them writes. Calls `whileHeld` when all of them wait. `queued` of the calls take a lock, so that only one
   * of them on each instance waits in the database.
   */
  async race<T = Answer>(
    table: string,
    parties: number,
    act: (party: number) => Promise<T>,
    { whileHeld = () => undefined, queued = 0 }: RaceOptions = {},
  ): Promise<T[]> {
    const gate = new Client({ connectionString: this.database.url });
    await gate.connect();
    try {
      await gate.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
      const answers = atOnce(parties, act);
      answers.catch(() => undefined);
      await untilWaiting(gate, parties - queued + Math.min(queued, this.running.length));
      whileHeld();
      await gate.query('COMMIT');
      return await answers;
    } finally {
      await gate.end();
    }
  }
}

/** Calls the instances in turns, so that no test depends on the memory of one of them. */
export class Turns extends HttpCaller {
  readonly dataDir: string;
  private nth = 0;

  constructor(private readonly pair: Pair) {
    super(pair.one.url);
    this.dataDir = pair.one.dataDir;
  }

  override call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    return this.pair.of(this.nth++).call(method, path, options);
  }
}

/** Waits until `parties` calls wait for the lock. Each look must first drop the statistics that `gate` has kept. */
async function untilWaiting(gate: Client, parties: number): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    await gate.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await gate.query<{ n: string }>(
      `SELECT count(*) n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    if (Number(rows[0]?.n) === parties) return;
    if (Date.now() > until) throw new Error(`only ${rows[0]?.n} of ${parties} have come`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Counts each outcome, such as `201` or `409 email_taken`. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status < 400 ? String(status) : `${status} ${body.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
