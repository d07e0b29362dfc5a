import type { ProjectRuntime } from '../chat/runtime.js';
import type { Evaluation, Share } from '../jobs/evaluation.js';
import type { DatasetRecord } from './dataset-record.js';
import type { Model } from './model.js';
import type { Project } from './project.js';

export type FindingLevel = 'blocking' | 'warning' | 'info';

export interface ReviewFinding {
  readonly level: FindingLevel;
  readonly code: string;
  /** The place in the project, dot-separated. */
  readonly path: string;
  readonly message: string;
}

/** A finding and the step that settles it, if there is one. */
export type Remark = ReviewFinding & { readonly next?: string };

const remark =
  (level: FindingLevel) =>
  (code: string, path: string, message: string, next?: string): Remark => ({ level, code, path, message, next });

export const blocking = remark('blocking');
export const warning = remark('warning');
export const info = remark('info');

/** The parts of a project that a review reads. */
export interface Reviewed {
  readonly project: Project;
  /** The registered models and the newest draft. */
  readonly models: readonly Pick<Model, 'id' | 'state'>[];
  /** The dataset that the spec names; null if it names none or the project does not have it. */
  readonly dataset: ReviewedDataset | null;
  readonly runtime: ProjectRuntime;
  /** The last evaluation of the dataset that succeeded. */
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

/** The call that changes the spec of a project. */
export const specUpdate = ({ id, version }: Project): string => `PUT /v1/projects/${id} with version ${version}`;
