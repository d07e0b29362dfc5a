import { FINISHING } from '../../../src/application/jobs/job-finisher.js';
import type {
  EvaluationRepository,
  HistoryPart,
  JobFilter,
  JobHistory,
  JobRepository,
  ResultsPage,
  UsageRepository,
} from '../../../src/application/jobs/ports.js';
import type { Page, SizedItem } from '../../../src/application/shared/ports.js';
import type { AlertRule } from '../../../src/domain/alerts/alert-rule.js';
import type { Evaluation, Result, Scored } from '../../../src/domain/jobs/evaluation.js';
import { type FinishedJob, Job, type JobKind } from '../../../src/domain/jobs/job.js';
import { type EndedCall, Usage, type UsageEntry, type UsageQuery } from '../../../src/domain/jobs/usage.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable, sizeOf } from '../memory-table.js';

interface KeptJob {
  readonly job: Job;
  /** The place of the job in the order of the finished jobs. Null: not finished. */
  readonly finishNumber: number | null;
}

const jobRows = (store: MemoryStore) => new MemoryTable<KeptJob>(store, 'jobs');

export class MemoryJobRepository implements JobRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = jobRows(store);
  }

  async add(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) if (!this.rows.get(job.id)) this.rows.put(job.id, { job, finishNumber: null });
  }

  find = async (id: string) => this.rows.get(id)?.job ?? null;

  async list(filter: JobFilter, page: Page): Promise<Job[]> {
    const filters = Object.entries(filter).filter(([, value]) => value !== null);
    const holds = ({ job }: KeptJob) => filters.every(([name, value]) => job[name as keyof JobFilter] === value);
    return this.rows.newest(holds, page).map(({ job }) => job);
  }

  async sizes(filter: JobFilter, page: Page): Promise<SizedItem[]> {
    return (await this.list(filter, page)).map(({ id, result, error }) => sizeOf(id, [result, error]));
  }

  hold(id: string): Promise<Job | null> {
    return this.find(id);
  }

  async update(job: Job): Promise<boolean> {
    if (this.rows.get(job.id)?.finishNumber !== null) return false;
    return this.rows.replace(job.id, { job, finishNumber: null });
  }

  async withdraw(ids: readonly string[]): Promise<void> {
    for (const id of ids) if (this.rows.get(id)?.finishNumber === null) this.rows.remove(id);
  }

  async instances(): Promise<number[]> {
    return [...new Set(this.open().flatMap(({ instance }) => instance ?? []))];
  }

  async ofInstance(instance: number, limit: number): Promise<string[]> {
    const open = this.open().filter((job) => job.instance === instance);
    return open.map(({ id }) => id).slice(0, limit);
  }

  /** Returns the jobs that have not finished, the oldest first. */
  private open(): Job[] {
    const newestFirst = this.rows.newest(({ finishNumber }) => finishNumber === null);
    return newestFirst.reverse().map(({ job }) => job);
  }
}

export class MemoryJobHistory implements JobHistory {
  private readonly rows;
  private readonly rules;

  constructor(private readonly store: MemoryStore) {
    this.rows = jobRows(store);
    this.rules = new MemoryTable<AlertRule>(store, 'alert_rules');
  }

  async append(job: Job & FinishedJob): Promise<boolean> {
    if (this.rows.get(job.id)?.job.finishedAt) return false;
    const last = Math.max(0, ...this.rows.all().map(({ finishNumber }) => finishNumber ?? 0));
    this.rows.put(job.id, { job, finishNumber: last + 1 });
    return true;
  }

  appendWithoutRules(job: Job & FinishedJob): Promise<boolean> {
    return this.store.exclusively(FINISHING, async () => this.rules.all().length === 0 && this.append(job));
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
    const rolledUp = this.rows.all().filter(({ finishNumber }) => Number(finishNumber) <= rolledUpTo(this.store));
    const jobs = rolledUp.map(({ job }) => job).filter(Job.isFinished);
    const calls = jobs.filter(({ mode, finishedAt }) => mode === 'sync' && finishedAt < before);
    const oldestFirst = calls.sort((a, b) => a.finishedAt.getTime() - b.finishedAt.getTime());
    for (const { id } of oldestFirst.slice(0, most)) this.rows.remove(id);
  }

  /** Returns the finished jobs in the order in which they finished. */
  private finished(kind: JobKind | null): (Job & FinishedJob)[] {
    const numbered = this.rows.all().sort((a, b) => Number(a.finishNumber) - Number(b.finishNumber));
    const jobs = numbered.map(({ job }) => job).filter(Job.isFinished);
    return jobs.filter((job) => kind === null || job.kind === kind);
  }
}

const progressOf = (store: MemoryStore) => new MemoryTable<number>(store, 'usage_progress');
const rolledUpTo = (store: MemoryStore): number => progressOf(store).get('last') ?? 0;

interface RolledUp {
  readonly call: EndedCall;
  readonly hasMinute: boolean;
}

/** Keeps a copy of each call that is rolled up. */
export class MemoryUsageRepository implements UsageRepository {
  private readonly rows;
  private readonly copies;

  constructor(private readonly store: MemoryStore) {
    this.rows = jobRows(store);
    this.copies = new MemoryTable<RolledUp>(store, 'usage_rollups');
  }

  async unrolled(): Promise<string | null> {
    const numbers = this.rows.all().map(({ finishNumber }) => finishNumber ?? 0);
    const last = Math.max(0, ...numbers);
    return last > rolledUpTo(this.store) ? String(last) : null;
  }

  async rollUp(last: string, _: number, minutesSince: Date): Promise<boolean> {
    for (const call of this.unrolledCalls(Number(last)))
      this.copies.put(call.id, { call, hasMinute: call.finishedAt >= minutesSince });
    progressOf(this.store).put('last', Math.max(Number(last), rolledUpTo(this.store)));
    return false;
  }

  async sums({ scope, since, until, bucket, groupBy }: UsageQuery): Promise<UsageEntry[]> {
    const rolledUp = this.copies.all().filter(({ hasMinute }) => hasMinute || bucket !== 'minute');
    const ended = [...rolledUp.map(({ call }) => call), ...this.unrolledCalls()];
    const calls = ended.filter(({ finishedAt }) => finishedAt >= since);
    const counted = calls.filter((call) => (!until || call.finishedAt < until) && Usage.scopesOf(call).includes(scope));
    const parts = counted.map((call) => {
      return { ...Usage.of(call), start: call.finishedAt, group: Usage.groupOf(call, groupBy) };
    });
    return Usage.entries(parts, bucket);
  }

  async size(query: UsageQuery): Promise<number> {
    return (await this.sums(query)).length;
  }

  /** Returns the calls that are not rolled up. */
  private unrolledCalls(last = Number.POSITIVE_INFINITY): EndedCall[] {
    const isUnrolled = ({ finishNumber }: KeptJob) =>
      finishNumber !== null && finishNumber > rolledUpTo(this.store) && finishNumber <= last;
    const jobs = this.rows.all().filter(isUnrolled);
    return jobs.map(({ job }) => job).filter((job): job is Job & FinishedJob & EndedCall => job.usage !== null);
  }
}

interface KeptEvaluation {
  readonly projectId: string;
  readonly evaluation: Evaluation;
  readonly run: number;
  readonly results: readonly Result[];
}

export class MemoryEvaluationRepository implements EvaluationRepository {
  private readonly rows;
  private readonly jobs;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<KeptEvaluation>(store, 'evaluations');
    this.jobs = jobRows(store);
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async add(evaluation: Evaluation): Promise<void> {
    const { jobId, projectId } = evaluation;
    if (!this.projects.get(projectId)) throw new NotFound('project');
    this.rows.put(jobId, { projectId, evaluation, run: 0, results: [] });
  }

  find = async (jobId: string) => this.rows.get(jobId)?.evaluation ?? null;

  async begin(jobId: string): Promise<number | null> {
    const kept = this.rows.get(jobId);
    if (!kept) return null;
    this.rows.put(jobId, { ...kept, run: kept.run + 1 });
    return kept.run + 1;
  }

  async latestRun(jobId: string): Promise<number | null> {
    return this.rows.get(jobId)?.run ?? null;
  }

  async keep(jobId: string, run: number, result: Result): Promise<boolean> {
    const kept = this.rows.get(jobId);
    if (kept?.run !== run) return false;
    const results = [...kept.results, result].sort((a, b) => a.position - b.position);
    return this.rows.replace(jobId, { ...kept, results });
  }

  async scored(jobId: string): Promise<Scored[]> {
    const results = this.rows.get(jobId)?.results ?? [];
    return results.map(({ input: _, expected: __, output: ___, ...scored }) => scored);
  }

  async results(jobId: string, { limit, after }: ResultsPage): Promise<Result[]> {
    const results = this.rows.get(jobId)?.results ?? [];
    return results.filter(({ position }) => position > (after ?? 0)).slice(0, limit);
  }

  async resultSizes(jobId: string, page: ResultsPage): Promise<SizedItem[]> {
    const results = await this.results(jobId, page);
    return results.map(({ position, input, expected, output }) => sizeOf(position, [input, expected, output]));
  }

  async latest(projectId: string, datasetId: string): Promise<Evaluation | null> {
    const [latest] = this.rows.newest(({ evaluation }) => {
      const isOf = evaluation.projectId === projectId && evaluation.datasetId === datasetId;
      return isOf && this.jobs.get(evaluation.jobId)?.job.status === 'succeeded';
    });
    return latest?.evaluation ?? null;
  }
}
