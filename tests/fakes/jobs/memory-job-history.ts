import type { HistoryPart, JobHistory } from '../../../src/application/jobs/ports.js';
import { type FinishedJob, Job, type JobKind } from '../../../src/domain/jobs/job.js';
import type { MemoryStore } from '../memory-store.js';
import { jobRows } from './job-rows.js';

export class MemoryJobHistory implements JobHistory {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = jobRows(store);
  }

  async append(job: Job & FinishedJob): Promise<boolean> {
    if (this.rows.get(job.id)?.job.finishedAt) return false;
    const last = Math.max(0, ...this.rows.all().map(({ finishNumber }) => finishNumber ?? 0));
    this.rows.put(job.id, { job, finishNumber: last + 1 });
    return true;
  }

  async failuresInARow(kind: JobKind | null, most: number): Promise<number> {
    const newest = this.finished(kind).reverse();
    const counted = newest.filter(({ status }) => status !== 'cancelled');
    const success = counted.findIndex(({ status }) => status === 'succeeded');
    return Math.min(most, success === -1 ? counted.length : success);
  }

  async *part({ kind, since, most }: HistoryPart): AsyncIterable<FinishedJob> {
    const recent = this.finished(kind).filter(({ finishedAt }) => since === null || finishedAt >= since);
    for (const { id, kind, status, startedAt, finishedAt } of recent.slice(-most))
      yield { id, kind, status, startedAt, finishedAt };
  }

  async forgetCalls(before: Date, most: number): Promise<void> {
    const old = this.finished(null).filter(({ mode, finishedAt }) => mode === 'sync' && finishedAt < before);
    const oldestFirst = old.sort((a, b) => a.finishedAt.getTime() - b.finishedAt.getTime());
    for (const { id } of oldestFirst.slice(0, most)) this.rows.remove(id);
  }

  /** In the order in which they finished. */
  private finished(kind: JobKind | null): (Job & FinishedJob)[] {
    const numbered = this.rows.all().sort((a, b) => Number(a.finishNumber) - Number(b.finishNumber));
    const jobs = numbered.map(({ job }) => job).filter(Job.isFinished);
    return jobs.filter((job) => kind === null || job.kind === kind);
  }
}
