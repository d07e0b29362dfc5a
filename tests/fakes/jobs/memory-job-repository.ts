import type { JobFilter, JobRepository } from '../../../src/application/jobs/ports.js';
import type { Job } from '../../../src/domain/jobs/job.js';
import type { MemoryStore } from '../memory-store.js';
import { jobRows } from './job-rows.js';

export class MemoryJobRepository implements JobRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = jobRows(store);
  }

  async add(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) if (!this.rows.get(job.id)) this.rows.put(job.id, { job, finishNumber: null });
  }

  async find(id: string): Promise<Job | null> {
    return this.rows.get(id)?.job ?? null;
  }

  async list(
    { teamId, status, kind, projectId }: JobFilter,
    { limit, after }: Parameters<JobRepository['list']>[1],
  ): Promise<Job[]> {
    const listed = this.all().filter(
      (job) =>
        (teamId === null || job.teamId === teamId) &&
        (status === null || job.status === status) &&
        (kind === null || job.kind === kind) &&
        (projectId === null || job.projectId === projectId) &&
        (after === null || job.id < after),
    );
    return listed.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
  }

  hold(id: string): Promise<Job | null> {
    return this.find(id);
  }

  async update(job: Job): Promise<boolean> {
    if (this.rows.get(job.id)?.finishNumber !== null) return false;
    this.rows.put(job.id, { job, finishNumber: null });
    return true;
  }

  async withdraw(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (this.rows.get(id)?.finishNumber === null) this.rows.remove(id);
  }

  async instances(): Promise<number[]> {
    return [...new Set(this.open().flatMap(({ instance }) => instance ?? []))];
  }

  async ofInstance(instance: number, limit: number): Promise<string[]> {
    const open = this.open().filter((job) => job.instance === instance);
    return open
      .map(({ id }) => id)
      .sort()
      .slice(0, limit);
  }

  private all(): Job[] {
    return this.rows.all().map(({ job }) => job);
  }

  private open(): Job[] {
    return this.all().filter(({ finishedAt }) => !finishedAt);
  }
}
