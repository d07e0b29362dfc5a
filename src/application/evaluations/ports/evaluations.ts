import type { Evaluation, Result, Scored } from '../../../domain/evaluations/evaluation.js';
import { port } from '../../shared/port.js';

/** Evaluations and what became of their records, which go with the project. */
export interface Evaluations {
  /** Throws NotFound when the project is gone. */
  add(evaluation: Evaluation): Promise<void>;
  find(jobId: string): Promise<Evaluation | null>;
  /** The number of a run that begins: only this one can keep results from now on. Null where the evaluation is gone. */
  begin(jobId: string): Promise<number | null>;
  /** Keeps what became of a record; false, and nothing kept, where a later run has begun or the evaluation is gone. */
  keep(jobId: string, run: number, result: Result): Promise<boolean>;
  /** All that is kept, by position, without the texts. */
  scored(jobId: string): Promise<Scored[]>;
  /** By position, at most `limit`, those after the position `after`. */
  results(jobId: string, page: { readonly limit: number; readonly after: number | null }): Promise<Result[]>;
  /** The newest one of a dataset whose job has succeeded. */
  latest(projectId: string, datasetId: string): Promise<Evaluation | null>;
}
export const Evaluations = port<Evaluations>('evaluations.Evaluations');
