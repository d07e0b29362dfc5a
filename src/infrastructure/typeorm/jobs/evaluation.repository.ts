import { injectable } from 'inversify';
import { MoreThan } from 'typeorm';
import type { EvaluationRepository, ResultsPage } from '../../../application/jobs/ports.js';
import type { SizedItem } from '../../../application/shared/ports.js';
import type { Evaluation, Result, Scored } from '../../../domain/jobs/evaluation.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { defineTable, sizesOf } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { JobTable } from './job.repository.js';

/** The definition never changes, so it is stored as one JSON value. The other fields are for searches. */
interface EvaluationRow extends Pick<Evaluation, 'jobId' | 'projectId' | 'datasetId' | 'contentSha256'> {
  readonly definition: object;
  /** Counts the runs. Only the latest run may store results. */
  readonly run: number;
  /** The time since when it waits for a budget, and the number of results that it had then. */
  readonly waitsSince?: Date | null;
  readonly waitsWith?: number | null;
}

export const EvaluationTable = defineTable<EvaluationRow>('evaluations', {
  jobId: { type: 'text', primary: true },
  projectId: { type: 'text' },
  datasetId: { type: 'text' },
  contentSha256: { type: 'text' },
  definition: { type: 'json' },
  run: { type: 'integer' },
  waitsSince: { type: 'timestamptz', nullable: true },
  waitsWith: { type: 'integer', nullable: true },
});

/** Input and expected output are written as JSON texts, because the ORM would store JSON's null as a missing value. */
interface ResultRow extends Omit<Result, 'input' | 'expected' | 'tokens'> {
  readonly jobId: string;
  readonly input: string;
  readonly expected: string;
  readonly tokens: object | null;
}

export const EvaluationResultTable = defineTable<ResultRow>('evaluation_results', {
  jobId: { type: 'text', primary: true },
  position: { type: 'integer', primary: true },
  recordId: { type: 'text' },
  group: { type: 'text', nullable: true },
  input: { type: 'text' },
  expected: { type: 'text' },
  output: { type: 'text', nullable: true },
  score: { type: 'smallint' },
  latency: { type: 'double precision' },
  tokens: { type: 'json', nullable: true },
  error: { type: 'text', nullable: true },
});

const SCORED = { position: true, recordId: true, group: true, score: true, latency: true, error: true } as const;

const WAIT = `
  UPDATE evaluations SET waits_since = CASE WHEN waits_with = $3 THEN waits_since ELSE $4 END, waits_with = $3
   WHERE job_id = $1 AND run = $2 RETURNING waits_since AS since`;

@injectable()
export class TypeOrmEvaluationRepository implements EvaluationRepository {
  private readonly evaluations = () => this.unitOfWork.repository(EvaluationTable);
  private readonly records = () => this.unitOfWork.repository(EvaluationResultTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(evaluation: Evaluation): Promise<void> {
    const { jobId, projectId, datasetId, contentSha256 } = evaluation;
    const row = { jobId, projectId, datasetId, contentSha256, definition: evaluation, run: 0 };
    await notFoundIfMissing('project', () => this.evaluations().insert(row));
  }

  async find(jobId: string): Promise<Evaluation | null> {
    return definitionOf(await this.evaluations().findOneBy({ jobId }));
  }

  async begin(jobId: string): Promise<number | null> {
    const begin = this.evaluations()
      .createQueryBuilder()
      .update({ run: () => 'run + 1' })
      .where({ jobId });
    const { raw } = await begin.returning('run').execute();
    return raw[0]?.run ?? null;
  }

  /** Locks the evaluation. A run that begins in the meantime waits for the lock and then finds the stored results. */
  async latestRun(jobId: string): Promise<number | null> {
    const lock = { mode: 'pessimistic_read' } as const;
    const found = await this.evaluations().findOne({ select: { jobId: true, run: true }, where: { jobId }, lock });
    return found?.run ?? null;
  }

  keep(jobId: string, run: number, { input, expected, ...result }: Result): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      if ((await this.latestRun(jobId)) !== run) return false;
      const texts = { input: JSON.stringify(input), expected: JSON.stringify(expected) };
      await this.records().insert({ ...result, ...texts, jobId });
      return true;
    });
  }

  async wait(jobId: string, run: number, { done, at }: { done: number; at: Date }): Promise<Date | null> {
    const [row] = await this.unitOfWork.query<{ since: Date }>(WAIT, [jobId, run, done, at]);
    return row?.since ?? null;
  }

  async scored(jobId: string): Promise<Scored[]> {
    const order = { position: 'ASC' } as const;
    return (await this.records().find({ select: { ...SCORED, tokens: true }, where: { jobId }, order })) as Scored[];
  }

  async differing(jobId: string, otherId: string): Promise<number[]> {
    const other = EvaluationResultTable.options.name;
    const found = await this.records()
      .createQueryBuilder('result')
      .innerJoin(other, 'other', 'other.position = result.position AND other.output IS DISTINCT FROM result.output')
      .select('result.position', 'position')
      .where('result.jobId = :jobId AND other.jobId = :otherId', { jobId, otherId })
      .orderBy('result.position')
      .getRawMany<{ position: number }>();
    return found.map(({ position }) => position);
  }

  async results(jobId: string, page: ResultsPage): Promise<Result[]> {
    const rows = await this.records().find(inOrder(jobId, page));
    return rows.map(({ jobId: _, ...row }) => row as object as Result); // the driver has parsed the JSON texts
  }

  resultSizes(jobId: string, page: ResultsPage): Promise<SizedItem[]> {
    return sizesOf(this.records(), inOrder(jobId, page), ['input', 'expected', 'output']);
  }

  async latest(projectId: string, datasetId: string): Promise<Evaluation | null> {
    const found = await this.evaluations()
      .createQueryBuilder('evaluation')
      .innerJoin(JobTable.options.name, 'job', "job.id = evaluation.jobId AND job.status = 'succeeded'")
      .where({ projectId, datasetId })
      .orderBy('evaluation.jobId', 'DESC')
      .limit(1)
      .getOne();
    return definitionOf(found);
  }
}

const inOrder = (jobId: string, { limit, after }: ResultsPage) =>
  ({ where: { jobId, position: MoreThan(after ?? 0) }, order: { position: 'ASC' }, take: limit }) as const;

const definitionOf = (row: EvaluationRow | null) => (row?.definition ?? null) as Evaluation | null;
