import type { ProjectRuntime } from '../chat/runtime.js';
import type { Evaluation } from '../jobs/evaluation.js';
import type { Share } from '../jobs/statistics.js';
import type { DatasetRecord } from './dataset-record.js';
import type { Model } from './model.js';
import type { Project } from './project.js';

export type FindingLevel = 'blocking' | 'warning' | 'info';

export interface ReviewFinding {
  readonly level: FindingLevel;
  readonly code: string;
  /** Where in the project it is, dot-separated. */
  readonly path: string;
  readonly message: string;
}

/** A finding and, where there is something to do about it, what. */
export type Remark = ReviewFinding & { readonly next?: string };

/** All that a review looks at. */
export interface Reviewed {
  readonly project: Project;
  /** Those that a review of the project can name; the drafts too. */
  readonly models: readonly Pick<Model, 'id' | 'state'>[];
  /** The dataset that the spec names; null where the project has no such dataset, or the spec names none. */
  readonly dataset: ReviewedDataset | null;
  readonly runtime: ProjectRuntime;
  /** The last one of the dataset that has succeeded. */
  readonly evaluation: ReviewedEvaluation | null;
}

export interface ReviewedEvaluation
  extends Pick<Evaluation, 'jobId' | 'modelId' | 'systemPrompt' | 'metric' | 'tolerance'> {
  readonly share: Share;
}

export interface ReviewedDataset {
  readonly id: string;
  readonly name: string;
  readonly state: 'editable' | 'frozen';
  readonly valid: boolean;
  readonly records: readonly DatasetRecord[];
}

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
