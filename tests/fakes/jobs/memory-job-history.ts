import { isDeepStrictEqual } from 'node:util';
import type { HistoryPart, JobHistory } from '../../../src/application/jobs/ports.js';
import { AlertRule } from '../../../src/domain/alerts/alert-rule.js';
import { type FinishedJob, Job, type JobKind } from '../../../src/domain/jobs/job.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';
import { jobRows } from './job-rows.js';

export class MemoryJobHistory implements JobHistory {
  private readonly rows;
  private readonly rules;

  constructor(private readonly store: MemoryStore) {
    this.rows = jobRows(store);
    this.rules = new MemoryTable<AlertRule>(store, 'alert_rules');
  }

  async append(jobs: readonly (Job & FinishedJob)[]): Promise<void> {
    let last = Math.max(0, ...this.rows.all().map(({ finishNumber }) => finishNumber ?? 0));
    for (const job of jobs) this.rows.put(job.id, { job, finishNumber: ++last });
  }

  async appendUnnoticed(line: string, calls: readonly (Job & FinishedJob)[]): Promise<string[]> {
    const append = async () => {
      const noticed = calls.some((call) => this.rules.all().some((rule) => takesNotice(rule, call)));
      const open = noticed ? [] : calls.filter(({ id }) => !this.rows.get(id)?.job.finishedAt);
      await this.append(open);
      return open.map(({ id }) => id);
    };
    return this.store.inLine(line, () => this.store.run(append));
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

function takesNotice(before: AlertRule, job: FinishedJob): boolean {
  const { rule, fires } = AlertRule.observe(before, job);
  return fires || !isDeepStrictEqual(rule, before);
}
