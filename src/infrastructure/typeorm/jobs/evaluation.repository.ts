import { injectable } from 'inversify';
import type { EvaluationRepository } from '../../../application/jobs/ports.js';
import type { Evaluation, Result, Scored } from '../../../domain/jobs/evaluation.js';
import { NotFound } from '../../../domain/shared/errors.js';
import { isForeignKeyViolation } from '../storage-errors.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

const ADD = `
  INSERT INTO evaluations (job_id, project_id, dataset_id, content_sha256, definition) VALUES ($1, $2, $3, $4, $5::json)`;

const FIND = 'SELECT definition FROM evaluations WHERE job_id = $1';

const BEGIN = 'UPDATE evaluations SET run = run + 1 WHERE job_id = $1 RETURNING run';

/** The run is held until the result is there: one that begins meanwhile waits, and finds it. */
const KEEP = `
  WITH held AS (SELECT job_id FROM evaluations WHERE job_id = $1 AND run = $2 FOR SHARE)
  INSERT INTO evaluation_results
    (job_id, position, record_id, "group", input, expected, output, score, latency, tokens, error)
  SELECT job_id, $3::integer, $4, $5, $6::json, $7::json, $8, $9::smallint, $10::double precision, $11::json, $12 FROM held
  RETURNING position`;

const SCORED = 'position, record_id AS "recordId", "group", score, latency, tokens, error';

const ALL_SCORED = `SELECT ${SCORED} FROM evaluation_results WHERE job_id = $1 ORDER BY position`;

const RESULTS = `
  SELECT ${SCORED}, input::text, expected::text, output FROM evaluation_results
   WHERE job_id = $1 AND position > $2 ORDER BY position LIMIT $3`;

const LATEST = `
  SELECT definition FROM evaluations JOIN jobs ON jobs.id = job_id
   WHERE evaluations.project_id = $1 AND evaluations.dataset_id = $2 AND status = 'succeeded'
   ORDER BY job_id DESC LIMIT 1`;

type Defined = { readonly definition: Evaluation };
/** The driver would take a JSON string that is no object for what it stands for, and JSON null for none. */
type Row = Omit<Result, 'input' | 'expected'> & { readonly input: string; readonly expected: string };

@injectable()
export class TypeOrmEvaluationRepository implements EvaluationRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(evaluation: Evaluation): Promise<void> {
    const { jobId, projectId, datasetId, contentSha256 } = evaluation;
    const values = [jobId, projectId, datasetId, contentSha256, JSON.stringify(evaluation)];
    try {
      await this.unitOfWork.prepared('evaluations-add', ADD, values);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new NotFound('project') : error;
    }
  }

  async find(jobId: string): Promise<Evaluation | null> {
    const [found] = await this.unitOfWork.prepared<Defined>('evaluations-find', FIND, [jobId]);
    return found?.definition ?? null;
  }

  async begin(jobId: string): Promise<number | null> {
    const [begun] = await this.unitOfWork.prepared<{ run: number }>('evaluations-begin', BEGIN, [jobId]);
    return begun?.run ?? null;
  }

  async keep(jobId: string, run: number, result: Result): Promise<boolean> {
    const { position, recordId, group, input, expected, output, score, latency, tokens, error } = result;
    const texts = [JSON.stringify(input), JSON.stringify(expected), output];
    const values = [jobId, run, position, recordId, group, ...texts, score, latency, tokens, error];
    return (await this.unitOfWork.prepared('evaluations-keep', KEEP, values)).length === 1;
  }

  scored(jobId: string): Promise<Scored[]> {
    return this.unitOfWork.prepared<Scored>('evaluations-scored', ALL_SCORED, [jobId]);
  }

  async results(jobId: string, { limit, after }: Parameters<EvaluationRepository['results']>[1]): Promise<Result[]> {
    const rows = await this.unitOfWork.prepared<Row>('evaluations-results', RESULTS, [jobId, after ?? 0, limit]);
    return rows.map((row) => ({ ...row, input: JSON.parse(row.input), expected: JSON.parse(row.expected) }));
  }

  async latest(projectId: string, datasetId: string): Promise<Evaluation | null> {
    const values = [projectId, datasetId];
    const [found] = await this.unitOfWork.prepared<Defined>('evaluations-latest', LATEST, values);
    return found?.definition ?? null;
  }
}
