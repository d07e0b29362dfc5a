import { injectable } from 'inversify';
import { In, IsNull, LessThan } from 'typeorm';
import type { JobFilter, JobRepository } from '../../../application/jobs/ports.js';
import type { Job } from '../../../domain/jobs/job.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { COLUMNS, type JobRow, JobTable, READ, ROWS, textOf, VALUES } from './job-table.js';

/** By their ids, as all that write several jobs do: whoever meets another waits, and none for each other. */
const ADD = `INSERT INTO jobs (${COLUMNS}) SELECT ${VALUES} FROM ${ROWS} ORDER BY id ON CONFLICT (id) DO NOTHING`;

const HOLD = `SELECT ${READ} FROM jobs WHERE id = ANY($1) ORDER BY id FOR UPDATE`;

@injectable()
export class TypeOrmJobRepository implements JobRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(jobs: readonly Job[]): Promise<void> {
    await this.unitOfWork.prepared('jobs-add', ADD, [textOf(jobs)]);
  }

  find(id: string): Promise<Job | null> {
    return this.table.findOneBy({ id }) as Promise<Job | null>;
  }

  list(
    { teamId, status, kind, projectId }: JobFilter,
    { limit, after }: Parameters<JobRepository['list']>[1],
  ): Promise<Job[]> {
    const where = {
      ...(teamId !== null && { teamId }),
      ...(status !== null && { status }),
      ...(kind !== null && { kind }),
      ...(projectId !== null && { projectId }),
      ...(after !== null && { id: LessThan(after) }),
    };
    return this.table.find({ where, order: { id: 'DESC' }, take: limit }) as Promise<Job[]>;
  }

  hold(ids: readonly string[]): Promise<Job[]> {
    return this.unitOfWork.prepared<Job>('jobs-hold', HOLD, [ids]);
  }

  async update({ id, ...job }: Job): Promise<boolean> {
    const { affected } = await this.table.update({ id, finishedAt: IsNull() }, job as Omit<JobRow, 'id'>);
    return affected === 1;
  }

  async withdraw(ids: readonly string[]): Promise<void> {
    await this.table.delete({ id: In([...ids]), finishedAt: IsNull() });
  }

  async processes(): Promise<number[]> {
    const found = await this.unitOfWork.prepared<{ process: number }>(
      'jobs-processes',
      'SELECT DISTINCT process FROM jobs WHERE process IS NOT NULL AND finish_number IS NULL',
      [],
    );
    return found.map(({ process }) => process);
  }

  async ofProcess(process: number, limit: number): Promise<string[]> {
    const found = await this.unitOfWork.prepared<{ id: string }>(
      'jobs-of-process',
      'SELECT id FROM jobs WHERE process = $1 AND finish_number IS NULL ORDER BY id LIMIT $2',
      [process, limit],
    );
    return found.map(({ id }) => id);
  }

  private get table() {
    return this.unitOfWork.table(JobTable);
  }
}
