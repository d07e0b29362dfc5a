import { injectable } from 'inversify';
import { In, IsNull } from 'typeorm';
import type { JobFilter, JobRepository } from '../../../application/jobs/ports.js';
import { MOST_SEARCHED } from '../../../application/shared/bounded-page.js';
import type { Page, SizedItem } from '../../../application/shared/ports.js';
import { type Job, jobKinds, jobStatuses } from '../../../domain/jobs/job.js';
import { containing } from '../search.js';
import { changesOne, defineTable, sizesOf } from '../table.js';
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
  cost: { type: 'numeric', precision: 27, scale: 9, nullable: true },
  finishNumber: { type: 'bigint', nullable: true, select: false },
});

/** Sorts after every id. */
const LAST = '~';

/**
 * Finds the newest jobs of each kind and status by an index, and then the newest of these. With one search for all kinds,
 * PostgreSQL would read a million chats to find the few evaluations among them. It would do the same by the primary key if
 * the conditions were equations, since these leave no order but that of the ids.
 */
const newestOf = (place: string, places = '') => `
  SELECT part.id FROM ${places} unnest($1::text[]) AS of_kind, unnest($2::text[]) AS of_status, LATERAL (
    SELECT id FROM jobs
     WHERE ${place} AND (kind, status, id) >= (of_kind, of_status, '') AND (kind, status, id) < (of_kind, of_status, $3)
     ORDER BY kind DESC, status DESC, id DESC LIMIT $4) AS part
   ORDER BY part.id DESC LIMIT $4`;

const NEWEST = {
  projects: newestOf('project_id = of_project', 'unnest($5::text[]) AS of_project,'),
  team: newestOf('team_id = $5'),
  all: newestOf('$5::text IS NULL'),
};

/**
 * Finds the newest jobs by a part of their name. The inner search reads an index alone. The jobs that it finds are joined
 * one after another, until there are enough.
 */
const namedOf = (team: string) => `
  SELECT job.id FROM (
    SELECT id, name FROM jobs WHERE ${team} AND name IS NOT NULL ORDER BY id DESC LIMIT ${MOST_SEARCHED}) AS newest
    JOIN jobs job USING (id)
   WHERE newest.name ~ $2 AND newest.id < $3 AND job.kind = ANY ($4) AND job.status = ANY ($5)
     AND ($6::text[] IS NULL OR job.project_id = ANY ($6))
   ORDER BY newest.id DESC LIMIT $7`;

const NAMED = { team: namedOf('team_id = $1'), master: namedOf('team_id IS NULL AND $1::text IS NULL') };

/** Sorts by the ids of jobs. Statements that store several jobs use this order, so that they do not wait in a circle. */
export const inOrder = <Item>(items: readonly Item[], idOf: (item: Item) => string): Item[] =>
  [...items].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));

@injectable()
export class TypeOrmJobRepository implements JobRepository {
  private readonly table = () => this.unitOfWork.repository(JobTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(jobs: readonly Job[]): Promise<void> {
    const rows = inOrder(jobs, ({ id }) => id).map((job) => job as JobRow);
    await this.table().createQueryBuilder().insert().values(rows).orIgnore().updateEntity(false).execute();
  }

  find(id: string): Promise<Job | null> {
    return this.table().findOneBy({ id }) as Promise<Job | null>;
  }

  async list(filter: JobFilter, page: Page): Promise<Job[]> {
    return (await this.table().find(await this.part(filter, page))) as Job[];
  }

  async sizes(filter: JobFilter, page: Page): Promise<SizedItem[]> {
    return sizesOf(this.table(), await this.part(filter, page), ['result', 'error']);
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

  /** The team need not be a part of the search by project, because all jobs of a project are of one team. */
  private async part({ teamId, projectId, kind, status, named, ...filter }: JobFilter, { limit, after }: Page) {
    const projects = projectId === null ? (filter.projects ?? null) : [projectId];
    const kinds = kind ? [kind] : jobKinds;
    const statuses = status ? [status] : jobStatuses;
    const last = after ?? LAST;
    const newest = projects ? NEWEST.projects : teamId ? NEWEST.team : NEWEST.all;
    const found = named
      ? this.unitOfWork.query<{ id: string }>(named.teamId ? NAMED.team : NAMED.master, [
          named.teamId,
          containing(named.part),
          ...[last, kinds, statuses, projects, limit],
        ])
      : this.unitOfWork.query<{ id: string }>(newest, [kinds, statuses, last, limit, projects ?? teamId]);
    const ids = (await found).map(({ id }) => id);
    const where = { id: In(ids), ...(teamId !== null && { teamId }) };
    return { where, order: { id: 'DESC' }, take: limit } as const;
  }
}
