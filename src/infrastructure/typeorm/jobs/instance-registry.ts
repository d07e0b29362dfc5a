import { injectable } from 'inversify';
import { DataSource, type QueryRunner } from 'typeorm';
import type { InstanceRegistry } from '../../../application/jobs/ports.js';

/** The class of the advisory locks of instances: "job" in ASCII. */
const CLASS = 0x6a6f62;

// The ORM supports neither sequences nor advisory locks.

const NEXT = `SELECT nextval('process_numbers')::integer AS number`;

const LOCK = 'SELECT pg_try_advisory_lock($1, $2) AS locked';

const UNLOCK = 'SELECT pg_advisory_unlock_all()';

const MISSING = `
  SELECT number FROM unnest($2::integer[]) AS number
   WHERE NOT EXISTS (
     SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND classid = $1 AND objid = number AND objsubid = 2 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/**
 * Holds an advisory lock for this instance, on a connection of its own. PostgreSQL releases the lock when the
 * connection ends, also after a kill of the instance.
 */
@injectable()
export class TypeOrmInstanceRegistry implements InstanceRegistry {
  private number: Promise<number> | null = null;
  private connection: QueryRunner | null = null;

  constructor(private readonly source: DataSource) {}

  own(): Promise<number> {
    if (this.number) return this.number;
    this.number = this.enter();
    this.number.catch(() => {
      this.number = null;
    });
    return this.number;
  }

  async renew(): Promise<void> {
    const number = await this.own();
    if (this.connection && !(await isUsable(this.connection))) await this.disconnect(this.connection);
    if (!this.connection) await this.connect(number);
  }

  async missing(numbers: readonly number[]): Promise<number[]> {
    if (numbers.length === 0) return [];
    const found: { number: number }[] = await this.source.query(MISSING, [CLASS, numbers]);
    return found.map(({ number }) => number);
  }

  async leave(): Promise<void> {
    const { connection } = this;
    if (!connection) return;
    await connection.query(UNLOCK).catch(() => undefined); // the end of the connection unlocks as well
    await this.disconnect(connection);
  }

  private async enter(): Promise<number> {
    const [{ number }] = await this.source.query(NEXT);
    await this.connect(number);
    return number;
  }

  /**
   * Takes the lock on a new connection. If PostgreSQL has not noticed yet that the old connection broke, the old
   * connection still holds the lock. Then `renew` tries again.
   */
  private async connect(number: number): Promise<void> {
    const connection = this.source.createQueryRunner();
    this.connection = connection;
    try {
      const [{ locked }] = await connection.query(LOCK, [CLASS, number]);
      if (!locked) await this.disconnect(connection);
    } catch (error) {
      await this.disconnect(connection);
      throw error;
    }
  }

  private async disconnect(connection: QueryRunner): Promise<void> {
    this.connection = null;
    await connection.release().catch(() => undefined);
  }
}

const isUsable = (connection: QueryRunner): Promise<boolean> =>
  connection.query('SELECT').then(
    () => true,
    () => false,
  );
