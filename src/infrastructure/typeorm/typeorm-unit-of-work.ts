import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { injectable, unmanaged } from 'inversify';
import type { Client, Pool, QueryConfig, QueryResultRow } from 'pg';
import { DataSource, type EntityManager, type EntitySchema, type ObjectLiteral, type Repository } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import type { LockMode, UnitOfWork } from '../../application/shared/ports.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';
import { steadyMs } from '../system/scheduling.js';
import { unitOfWorkMs } from './connections.js';
import { isLostRace, wasRolledBack } from './storage-errors.js';

export const poolOf = ({ driver }: DataSource): Pool => (driver as PostgresDriver).master;

type Isolation = 'SERIALIZABLE' | 'READ COMMITTED';

/** Read committed, which `connections.ts` sets for every connection. */
const DEFAULT_ISOLATION = undefined;

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
  /** The last unit of work in each queue. */
  private readonly queues = new Map<string, Promise<unknown>>();

  /** Tests pass a weaker isolation to show what `SERIALIZABLE` prevents. */
  constructor(
    private readonly source: DataSource,
    @unmanaged() private readonly isolation: Isolation = 'SERIALIZABLE',
  ) {}

  async run<T>(work: () => Promise<T>, queueName?: string): Promise<T> {
    if (this.isRunning) return work();
    const deadline = this.deadline();
    const retried = () => this.retried(this.isolation, work, deadline);
    return queueName === undefined ? retried() : this.inTurn(queueName, retried);
  }

  /**
   * Runs `work` under a lock. The transaction is read-committed, so that each statement sees everything that earlier
   * holders of the lock have committed.
   */
  async locked<T>(name: string, work: () => Promise<T>, mode: LockMode = 'exclusive'): Promise<T> {
    this.requireNotRunning();
    const deadline = this.deadline();
    const holding = async () => {
      await this.query(lock(mode), [name, IDLE_TIMEOUT]);
      return work();
    };
    const retried = () => this.retried(DEFAULT_ISOLATION, holding, deadline);
    return mode === 'exclusive' ? this.inTurn(name, retried) : retried();
  }

  async checked<T>(
    name: string,
    { work, check, queueName }: { work: () => Promise<T>; check: () => Promise<void>; queueName: string },
  ): Promise<T> {
    this.requireNotRunning();
    const deadline = this.deadline();
    const both = async () => {
      const result = await work();
      await this.query(lock('exclusive'), [name, IDLE_TIMEOUT]);
      await check();
      return result;
    };
    return this.inTurn(queueName, () => this.retried(DEFAULT_ISOLATION, both, deadline));
  }

  /** Runs the units of work with this name one after another. Those that wait for their turn need no connection. */
  private inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.queues.get(name) ?? Promise.resolve()).then(work);
    const done = turn
      .catch(() => undefined)
      .then(() => {
        if (this.queues.get(name) === done) this.queues.delete(name);
      });
    this.queues.set(name, done);
    return turn;
  }

  /** Runs `work` in a transaction of its own that sees later commits of others. Throws inside a unit of work. */
  async readCommitted<T>(work: () => Promise<T>): Promise<T> {
    this.requireNotRunning();
    return this.retried(DEFAULT_ISOLATION, work, this.deadline());
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

  /**
   * Runs a frequent statement. PostgreSQL plans the statement once for each connection, under `name`. Outside a
   * transaction, the statement runs again if it lost against another one.
   */
  async prepared<Row extends QueryResultRow>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    const query = { name, text, values: [...values] };
    const { queryRunner } = this.transactional.getStore() ?? {};
    if (queryRunner) return (await (await queryRunner.connect()).query(query)).rows;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.pooled(query);
      } catch (error) {
        if (attempt === ATTEMPTS || !wasRolledBack(error)) throw error;
        await delay(randomInt(1, LONGEST_PAUSE_MS));
      }
    }
  }

  private async pooled<Row extends QueryResultRow>(query: QueryConfig): Promise<Row[]> {
    // `Pool.query` would run the statement in the async context of the request that returns the connection.
    const connection = await poolOf(this.source).connect();
    let failure: unknown;
    try {
      return (await connection.query<Row>(query)).rows;
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

  private deadline(): number {
    const { url } = this.source.options as { readonly url: string };
    return steadyMs() + unitOfWorkMs(url);
  }

  /** Runs `work`. If its transaction lost against another one, waits for a random time and runs it again. */
  private async retried<T>(isolation: Isolation | undefined, work: () => Promise<T>, deadline: number): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (attempt > ATTEMPTS || steadyMs() >= deadline) {
        throw new StorageUnavailable('too many changes of the same thing at once');
      }
      try {
        return await this.transaction(isolation, work, deadline);
      } catch (error) {
        if (!isLostRace(error)) throw error;
        await delay(randomInt(1, LONGEST_PAUSE_MS * attempt));
      }
    }
  }

  /** Breaks the connection at the deadline, unless the transaction is being committed. So nothing is written then. */
  private async transaction<T>(isolation: Isolation | undefined, work: () => Promise<T>, deadline: number): Promise<T> {
    const runner = this.source.createQueryRunner();
    let timer: NodeJS.Timeout | undefined;
    const within = (manager: EntityManager) => this.transactional.run(manager, work).finally(() => clearTimeout(timer));
    try {
      const connection: Client = await runner.connect();
      timer = setTimeout(() => connection.end().catch(() => undefined), deadline - steadyMs());
      return await (isolation ? runner.manager.transaction(isolation, within) : runner.manager.transaction(within));
    } finally {
      clearTimeout(timer);
      await runner.release();
    }
  }
}
