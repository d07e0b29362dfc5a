import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { DataSource, EntityManager, EntitySchema, ObjectLiteral, Repository } from 'typeorm';
import type { UnitOfWork } from '../../application/shared/ports.js';
import { StorageUnavailable } from '../../domain/operations/errors.js';
import { Carried } from '../system/carried.js';
import { SharedLookups } from './shared-lookups.js';
import { isLostRace } from './storage-errors.js';

type Isolation = 'SERIALIZABLE' | 'READ COMMITTED';

const ATTEMPTS = 12;
const LONGEST_PAUSE_MS = 15;

/** The one place that knows which connection the current call must use. */
export class TypeOrmUnitOfWork implements UnitOfWork {
  readonly lookups = new SharedLookups(this);

  private readonly current = new Carried<EntityManager>();

  /** A weaker isolation is for the tests that show what serializable is good for. */
  constructor(
    private readonly source: DataSource,
    private readonly isolation: Isolation = 'SERIALIZABLE',
  ) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    return this.current.value ? work() : this.apart(this.isolation, work);
  }

  /** In a transaction of its own, which runs again when it lost against another. Not for use inside of a unit. */
  async apart<T>(isolation: Isolation, work: () => Promise<T>): Promise<T> {
    if (this.current.value) throw new Error('This can be no part of a unit of work.');
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.source.transaction(isolation, (manager) => this.current.run(manager, work));
      } catch (error) {
        if (!isLostRace(error)) throw error;
        if (attempt === ATTEMPTS) throw new StorageUnavailable('too many changes of the same thing at once');
        await delay(randomInt(1, LONGEST_PAUSE_MS * attempt));
      }
    }
  }

  /** True for a call that is inside of a unit. */
  get isRunning(): boolean {
    return this.current.value !== undefined;
  }

  table<Row extends ObjectLiteral>(schema: EntitySchema<Row>): Repository<Row> {
    return this.manager.getRepository(schema);
  }

  /** A statement on a hot path: planned by PostgreSQL once per connection under `name`, and not built by the ORM. */
  async prepared<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    const runner = this.current.value?.queryRunner;
    const target = runner
      ? ((await runner.connect()) as PoolClient)
      : (this.source.driver as unknown as { master: Pool }).master;
    const { rows } = await target.query({ name, text, values: [...values] });
    return rows as Row[];
  }

  private get manager(): EntityManager {
    return this.current.value ?? this.source.manager;
  }
}
