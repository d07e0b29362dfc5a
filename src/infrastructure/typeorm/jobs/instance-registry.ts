import { injectable } from 'inversify';
import { DataSource, type QueryRunner } from 'typeorm';
import type { InstanceRegistry, ProcessIdentity } from '../../../application/jobs/ports.js';

/** Locks of this class are the processes of the service: "job" in ASCII. */
const CLASS = 0x6a6f62;

const MOST_REMEMBERED = 1_000;

/** The lock of the process that is called `number`. */
const LIVES = `
  EXISTS (SELECT FROM pg_locks
           WHERE locktype = 'advisory' AND classid = $1 AND objid = number AND objsubid = 2 AND granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

const MISSING = `SELECT number FROM unnest($2::integer[]) AS number WHERE NOT ${LIVES}`;

const REACHED = `SELECT url FROM processes WHERE number = $2 AND url <> '' AND ${LIVES}`;

const INTRODUCE = `
  INSERT INTO processes (number, name, url) VALUES ($1, $2, $3)
      ON CONFLICT (number) DO UPDATE SET name = excluded.name, url = excluded.url`;

/** Nobody needs the name of a process for so long after its end. */
const FORGET = `DELETE FROM processes WHERE number = ANY ($1) AND started_at < now() - interval '7 days'`;

/**
 * Each process holds a lock on a connection of its own. PostgreSQL gives it back when the connection ends, which it
 * does with the process, however that ends.
 */
@injectable()
export class TypeOrmInstanceRegistry implements InstanceRegistry {
  private number: Promise<number> | null = null;
  private line: QueryRunner | null = null;
  /** They never change. */
  private readonly names = new Map<number, string>();

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

  async introduce(identity: ProcessIdentity): Promise<void> {
    const number = await this.own();
    await this.source.query(INTRODUCE, [number, identity.name, identity.url]);
    this.names.set(number, identity.name);
    const known: { number: number }[] = await this.source.query('SELECT number FROM processes');
    await this.source.query(FORGET, [await this.missing(known.map((one) => one.number))]);
  }

  async name(number: number): Promise<string | null> {
    const known = this.names.get(number);
    if (known !== undefined) return known;
    const [found] = await this.source.query('SELECT name FROM processes WHERE number = $1', [number]);
    if (!found) return null;
    if (this.names.size >= MOST_REMEMBERED) this.names.clear();
    this.names.set(number, found.name);
    return found.name;
  }

  async url(number: number): Promise<string | null> {
    const [found] = await this.source.query(REACHED, [CLASS, number]);
    return found?.url ?? null;
  }

  async withdraw(): Promise<void> {
    await this.source.query(`UPDATE processes SET url = '' WHERE number = $1`, [await this.own()]);
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
