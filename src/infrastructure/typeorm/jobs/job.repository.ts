import { injectable } from 'inversify';
import { In, IsNull } from 'typeorm';
import type { JobFilter, JobRepository } from '../../../application/jobs/ports.js';
import type { Page, SizedItem } from '../../../application/shared/ports.js';
import type { Job } from '../../../domain/jobs/job.js';
import { changesOne, defineTable, newest, sizesOf } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
export interface JobRow extends Omit<Job, 'result'> {
  readonly result: object | null;
  /** Orders the finished jobs. Null before the end. */
  readonly finishNumber: string | null;
}

export const JobTable = defineTable<JobRow>('jobs', {
  id: { type: 'text', primary: true },
  teamId: { type: 'text', nullable: true },
  kind: { type: 'text' },
  mode: { type: 'text' },
  status: { type: 'text' },
  name: { type: 'text', nullable: true },
  projectId: { type: 'text', nullable: true },
  datasetId: { type: 'text', nullable: true },
  modelId: { type: 'text', nullable: true },
  requestedBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  startedAt: { type: 'timestamptz', nullable: true },
  finishedAt: { type: 'timestamptz', nullable: true },
  progress: { type: 'json' },
  result: { type: 'json', nullable: true },
  error: { type: 'text', nullable: true },
  instance: { type: 'integer', name: 'process', nullable: true },
  usage: { type: 'json', nullable: true },
  finishNumber: { type: 'bigint', nullable: true, select: false },
});

@injectable()
export class TypeOrmJobRepository implements JobRepository {
  private readonly table = () => this.unitOfWork.repository(JobTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(jobs: readonly Job[]): Promise<void> {
    const rows = jobs.map((job) => job as JobRow);
    await this.table().createQueryBuilder().insert().values(rows).orIgnore().updateEntity(false).execute();
  }

  find(id: string): Promise<Job | null> {
    return this.table().findOneBy({ id }) as Promise<Job | null>;
  }

  list(filter: JobFilter, page: Page): Promise<Job[]> {
    return this.table().find(newest(matching(filter), page)) as Promise<Job[]>;
  }

  sizes(filter: JobFilter, page: Page): Promise<SizedItem[]> {
    return sizesOf(this.table(), newest(matching(filter), page), ['result', 'error']);
  }

  hold(id: string): Promise<Job | null> {
    return this.table().findOne({ where: { id }, lock: { mode: 'pessimistic_write' } }) as Promise<Job | null>;
  }

  update({ id, ...job }: Job): Promise<boolean> {
    return changesOne(this.table().update({ id, finishedAt: IsNull() }, job as Omit<JobRow, 'id'>));
  }

  async withdraw(ids: readonly string[]): Promise<void> {
    await this.table().delete({ id: In([...ids]), finishedAt: IsNull() });
  }

  async instances(): Promise<number[]> {
    const open = this.table().createQueryBuilder('job').select('DISTINCT job.instance', 'instance');
    const rows = await open.where('job.instance IS NOT NULL AND job.finishNumber IS NULL').getRawMany();
    return rows.map(({ instance }) => instance);
  }

  async ofInstance(instance: number, limit: number): Promise<string[]> {
    const where = { instance, finishNumber: IsNull() };
    const jobs = await this.table().find({ select: { id: true }, where, order: { id: 'ASC' }, take: limit });
    return jobs.map(({ id }) => id);
  }
}

const matching = ({ teamId, status, kind, projectId }: JobFilter) => ({
  ...(teamId !== null && { teamId }),
  ...(status !== null && { status }),
  ...(kind !== null && { kind }),
  ...(projectId !== null && { projectId }),
});
