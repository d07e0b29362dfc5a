import { injectable } from 'inversify';
import { DataSource, type QueryRunner } from 'typeorm';
import type { InstanceRegistry } from '../../../application/jobs/ports.js';

/** Locks of this class are the processes of the service: "job" in ASCII. */
const CLASS = 0x6a6f62;

/** The lock of the process that is called `number`. */
const LIVES = `
  EXISTS (SELECT FROM pg_locks
           WHERE locktype = 'advisory' AND classid = $1 AND objid = number AND objsubid = 2 AND granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

const MISSING = `SELECT number FROM unnest($2::integer[]) AS number WHERE NOT ${LIVES}`;

/**
 * Each process holds a lock on a connection of its own. PostgreSQL gives it back when the connection ends, which it
 * does with the process, however that ends.
 */
@injectable()
export class TypeOrmInstanceRegistry implements InstanceRegistry {
  private number: Promise<number> | null = null;
  private line: QueryRunner | null = null;

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
    if (this.line && !(await stands(this.line))) await this.hangUp(this.line);
    if (!this.line) await this.call(number);
  }

  async missing(numbers: readonly number[]): Promise<number[]> {
    if (numbers.length === 0) return [];
    const found: { number: number }[] = await this.source.query(MISSING, [CLASS, numbers]);
    return found.map(({ number }) => number);
  }

  async leave(): Promise<void> {
    const { line } = this;
    if (!line) return;
    await line.query('SELECT pg_advisory_unlock_all()').catch(() => undefined); // its end says the same
    await this.hangUp(line);
  }

  private async enter(): Promise<number> {
    const [next] = await this.source.query(`SELECT nextval('process_numbers')::integer AS number`);
    const number = next.number as number;
    await this.call(number);
    return number;
  }

  /** Where the line before has not ended for PostgreSQL yet, that one still says that this process lives. */
  private async call(number: number): Promise<void> {
    const line = this.source.createQueryRunner();
    this.line = line;
    try {
      const [{ locked }] = await line.query('SELECT pg_try_advisory_lock($1, $2) AS locked', [CLASS, number]);
      if (!locked) await this.hangUp(line);
    } catch (error) {
      await this.hangUp(line);
      throw error;
    }
  }

  private async hangUp(line: QueryRunner): Promise<void> {
    this.line = null;
    await line.release().catch(() => undefined); // a connection that broke
  }
}

const stands = (line: QueryRunner): Promise<boolean> =>
  line.query('SELECT').then(
    () => true,
    () => false,
  );
