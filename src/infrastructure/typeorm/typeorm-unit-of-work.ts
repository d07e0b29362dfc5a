import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { injectable, unmanaged } from 'inversify';
import type { Pool } from 'pg';
import { DataSource, type EntityManager, type EntitySchema, type ObjectLiteral, type Repository } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { LockMode, UnitOfWork } from '../../application/shared/ports.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';
import { isLostRace } from './storage-errors.js';

export const poolOf = ({ driver }: DataSource): Pool => (driver as PostgresDriver).master;

type Isolation = 'SERIALIZABLE' | 'READ COMMITTED';

const ATTEMPTS = 24;
const LONGEST_PAUSE_MS = 15;

/** Ends the transaction of an instance that hangs in it, before the statements of waiting instances time out. */
const IDLE_TIMEOUT = '2500ms';

/** Takes a lock until the end of the transaction. The ORM has no advisory locks. */
const lock = (mode: LockMode) => `
  SELECT set_config('idle_in_transaction_session_timeout', $2, true),
         pg_advisory_xact_lock${mode === 'shared' ? '_shared' : ''}(hashtextextended($1, 0))`;

/** Gives each repository the connection of the transaction that it runs in. */
@injectable()
export class TypeOrmUnitOfWork implements UnitOfWork {
  private readonly transactional = new AsyncLocalStorage<EntityManager>();
  /** The last in the line of each exclusive lock. */
  private readonly lines = new Map<string, Promise<unknown>>();

  /** Tests pass a weaker isolation to show what `SERIALIZABLE` prevents. */
  constructor(
    private readonly source: DataSource,
    @unmanaged() private readonly isolation: Isolation = 'SERIALIZABLE',
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    return this.isRunning ? work() : this.retried(this.isolation, work);
  }

  /**
   * Runs `work` under a lock. The transaction is read-committed, so that each statement sees everything that earlier
   * holders of the lock have committed.
   */
  async locked<T>(name: string, work: () => Promise<T>, mode: LockMode = 'exclusive'): Promise<T> {
    this.requireNotRunning();
    const holding = () =>
      this.readCommitted(async () => {
        await this.query(lock(mode), [name, IDLE_TIMEOUT]);
        return work();
      });
    return mode === 'exclusive' ? this.inLine(name, holding) : holding();
  }

  /** Runs the exclusive holders of this process one after another, so that those who wait need no connection. */
  private inLine<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.lines.get(name) ?? Promise.resolve()).then(work);
    const done = turn
      .catch(() => undefined)
      .then(() => {
        if (this.lines.get(name) === done) this.lines.delete(name);
      });
    this.lines.set(name, done);
    return turn;
  }

  /** Runs `work` in a transaction of its own that sees later commits of others. Throws inside a unit of work. */
  async readCommitted<T>(work: () => Promise<T>): Promise<T> {
    this.requireNotRunning();
    return this.retried(undefined, work); // the default isolation of every connection, see `connections.ts`
  }

  private requireNotRunning(): void {
    if (this.isRunning) throw new Error('This must not run inside a unit of work.');
  }

  get isRunning(): boolean {
    return this.transactional.getStore() !== undefined;
  }

  repository<Row extends ObjectLiteral>(schema: EntitySchema<Row>): Repository<Row> {
    return this.manager.getRepository(schema);
  }

  /** Runs SQL that the ORM cannot express. Returns the rows. */
  async query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const result = await this.manager.query(text, [...values]);
    const isChange = result.length === 2 && Array.isArray(result[0]) && typeof result[1] === 'number';
    return isChange ? result[0] : result;
  }

  /** Runs a frequent statement. PostgreSQL plans the statement once for each connection, under `name`. */
  async prepared<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    const query = { name, text, values: [...values] };
    const { queryRunner } = this.transactional.getStore() ?? {};
    if (queryRunner) return (await (await queryRunner.connect()).query(query)).rows;
    // `Pool.query` would run the statement in the async context of the request that returns the connection.
    const connection = await poolOf(this.source).connect();
    let failure: unknown;
    try {
      return (await connection.query(query)).rows;
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      connection.release(failure as Error | undefined);
    }
  }

  private get manager(): EntityManager {
    return this.transactional.getStore() ?? this.source.manager;
  }

  /** Runs `work`. If its transaction lost against another one, waits for a random time and runs it again. */
  private async retried<T>(isolation: Isolation | undefined, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.transaction(isolation, work);
      } catch (error) {
        if (!isLostRace(error)) throw error;
        if (attempt === ATTEMPTS) throw new StorageUnavailable('too many changes of the same thing at once');
        await delay(randomInt(1, LONGEST_PAUSE_MS * attempt));
      }
    }
  }

  private transaction<T>(isolation: Isolation | undefined, work: () => Promise<T>): Promise<T> {
    const within = (manager: EntityManager) => this.transactional.run(manager, work);
    return isolation ? this.source.transaction(isolation, within) : this.source.transaction(within);
  }
}
