import type { EvaluationRepository } from '../../../src/application/jobs/ports.js';
import type { Evaluation, Result, Scored } from '../../../src/domain/jobs/evaluation.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';
import { jobRows } from './job-rows.js';

interface Kept {
  readonly projectId: string;
  readonly evaluation: Evaluation;
  readonly run: number;
  readonly results: readonly Result[];
}

export class MemoryEvaluationRepository implements EvaluationRepository {
  private readonly rows: MemoryTable<Kept>;
  private readonly jobs;
  private readonly projects;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable(store, 'evaluations');
    this.jobs = jobRows(store);
    this.projects = new MemoryTable<Project>(store, 'projects');
  }

  async add(evaluation: Evaluation): Promise<void> {
    if (!this.projects.get(evaluation.projectId)) throw new NotFound('project');
    this.rows.put(evaluation.jobId, { projectId: evaluation.projectId, evaluation, run: 0, results: [] });
  }

  async find(jobId: string): Promise<Evaluation | null> {
    return this.rows.get(jobId)?.evaluation ?? null;
  }

  async begin(jobId: string): Promise<number | null> {
    const kept = this.rows.get(jobId);
    if (!kept) return null;
    this.rows.put(jobId, { ...kept, run: kept.run + 1 });
    return kept.run + 1;
  }

  async keep(jobId: string, run: number, result: Result): Promise<boolean> {
    const kept = this.rows.get(jobId);
    if (kept?.run !== run) return false;
    const results = [...kept.results, result].sort((a, b) => a.position - b.position);
    this.rows.put(jobId, { ...kept, results });
    return true;
  }

  async scored(jobId: string): Promise<Scored[]> {
    const results = this.rows.get(jobId)?.results ?? [];
    return results.map(({ input: _, expected: __, output: ___, ...scored }) => scored);
  }

  async results(jobId: string, { limit, after }: Parameters<EvaluationRepository['results']>[1]): Promise<Result[]> {
    const results = this.rows.get(jobId)?.results ?? [];
    return results.filter(({ position }) => position > (after ?? 0)).slice(0, limit);
  }

  async latest(projectId: string, datasetId: string): Promise<Evaluation | null> {
    const all = this.rows.all().map(({ evaluation }) => evaluation);
    const succeeded = all.filter(
      (one) =>
        one.projectId === projectId &&
        one.datasetId === datasetId &&
        this.jobs.get(one.jobId)?.job.status === 'succeeded',
    );
    return succeeded.sort((a, b) => (a.jobId < b.jobId ? 1 : -1))[0] ?? null;
  }
}
