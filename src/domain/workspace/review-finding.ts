import type { ProjectRuntime } from '../chat/runtime.js';
import type { Evaluation, Share } from '../jobs/evaluation.js';
import { metrics } from '../jobs/scorer.js';
import { isObject, type JsonObject } from './json.js';
import type { Model } from './model.js';
import type { Project } from './project.js';
import type { RecordSurvey } from './record-survey.js';
import { formatOf, schemaOf } from './spec-format.js';

export type FindingLevel = 'blocking' | 'warning' | 'info';

export interface ReviewFinding {
  readonly level: FindingLevel;
  readonly code: string;
  /** The place in the project, dot-separated. */
  readonly path: string;
  readonly message: string;
}

/** A finding. `next` is the step that solves it, if there is such a step. */
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
  /** The dataset that the spec names. Null without such a name, or if the project does not have this dataset. */
  readonly dataset: ReviewedDataset | null;
  readonly runtime: Pick<ProjectRuntime, 'state' | 'modelId' | 'reason'>;
  /** The connected model, or else a registered one, if it has no prices though a budget limits what it costs. */
  readonly unpriced: string | null;
  /** Says why the JSON schema of the spec cannot be used. Null for a good schema and without a schema. */
  readonly schemaProblem: string | null;
  /** The last successful evaluation of the dataset. */
  readonly evaluation: ReviewedEvaluation | null;
}

export interface ReviewedEvaluation
  extends Pick<Evaluation, 'jobId' | 'modelId' | 'systemPrompt' | 'responseFormat' | 'metric' | 'tolerance' | 'field'> {
  readonly share: Share;
}

export interface ReviewedDataset {
  readonly id: string;
  readonly name: string;
  readonly state: 'editable' | 'frozen';
  readonly valid: boolean;
  readonly survey: RecordSurvey;
}

export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** Returns the call that changes the spec of a project. */
export const specUpdate = ({ id, version }: Project): string => `PUT /v1/projects/${id} with version ${version}`;

/** The metrics that a spec can name. Evaluations use their default metric for `accuracy`. */
const METRICS: readonly string[] = ['accuracy', ...metrics];

/** Checks that the spec has a goal, a task and a system prompt. */
export function* goalRemarks({ project }: Reviewed): Generator<Remark> {
  const { spec } = project;
  if (isBlank(spec.goal)) {
    yield blocking(
      'goal_missing',
      'spec.goal',
      'The spec does not say what the project is for, so nobody can tell whether a model serves it.',
      `Say in a sentence what the model is to do, in spec.goal: ${specUpdate(project)}.`,
    );
  }
  if (isBlank(spec.task)) {
    const message = 'The spec names no task, such as "chat", "classification" or "extraction".';
    yield info('task_missing', 'spec.task', message);
  }
  if (isBlank(spec.system_prompt)) {
    const message = 'The spec has no system prompt: the model is asked with the records alone.';
    yield info('system_prompt_missing', 'spec.system_prompt', message);
  }
}

/** Checks that the JSON schema of the spec can be used. */
export function* formatRemarks({ project, schemaProblem }: Reviewed): Generator<Remark> {
  if (schemaProblem === null) return;
  yield blocking(
    'response_format_invalid',
    'spec.response_format.json_schema.schema',
    `The JSON schema cannot be used: ${schemaProblem}.`,
    `Mend the schema in spec.response_format: ${specUpdate(project)}.`,
  );
}

/** Checks that the spec says when a model is good enough, and that an evaluation can measure this. */
export function* acceptanceRemarks(reviewed: Reviewed): Generator<Remark> {
  const acceptance = reviewed.project.spec.acceptance as JsonObject | null | undefined;
  if (acceptance) {
    yield* thresholdRemarks(reviewed, (acceptance.threshold ?? null) as number | null);
    yield* metricRemarks(reviewed, (acceptance.metric ?? null) as string | null);
    if (!isBlank(acceptance.field))
      yield* fieldRemarks(reviewed, String(acceptance.field), acceptance.metric as string);
    return;
  }
  yield warning(
    'acceptance_missing',
    'spec.acceptance',
    'The spec does not say when a model is good enough.',
    `Set spec.acceptance to a metric and a threshold, such as { "metric": "normalized", "threshold": 0.9 }: ${specUpdate(reviewed.project)}.`,
  );
}

function* thresholdRemarks({ project }: Reviewed, threshold: number | null): Generator<Remark> {
  const path = 'spec.acceptance.threshold';
  if (threshold === null) {
    yield blocking(
      'acceptance_threshold_missing',
      path,
      'A metric without a threshold accepts nothing and refuses nothing.',
      `Set spec.acceptance.threshold to the share of right answers that is enough, from 0 to 1: ${specUpdate(project)}.`,
    );
  } else if (threshold < 0 || threshold > 1) {
    const percent = threshold > 1 && threshold <= 100 ? ` (${threshold / 100}?)` : '';
    yield blocking(
      'acceptance_threshold_out_of_range',
      path,
      `A share of right answers lies between 0 and 1: ${threshold} ${threshold > 1 ? 'can never be reached' : 'is reached by anything'}.`,
      `Set spec.acceptance.threshold to a share from 0 to 1${percent}: ${specUpdate(project)}.`,
    );
  } else if (threshold === 0) {
    yield warning('acceptance_always_met', path, 'A threshold of 0 is met by a model that answers nothing right.');
  }
}

function* metricRemarks({ project, dataset }: Reviewed, metric: string | null): Generator<Remark> {
  const path = 'spec.acceptance.metric';
  if (metric === null || metric.trim() === '') {
    yield warning('acceptance_metric_missing', path, `The threshold has no metric: ${METRICS.join(', ')}.`);
  } else if (!METRICS.includes(metric)) {
    yield warning(
      'acceptance_metric_unknown',
      path,
      `No evaluation measures ${JSON.stringify(metric.slice(0, 100))}; it can be one of ${METRICS.join(', ')}.`,
      `Choose a metric that evaluations measure, in spec.acceptance.metric: ${specUpdate(project)}.`,
    );
  }
  if (metric === 'json_schema' && !schemaOf(formatOf(project.spec.response_format))) {
    yield warning(
      'acceptance_metric_unfit',
      path,
      'The metric is json_schema, but the spec has no JSON schema.',
      `Set spec.response_format to { "type": "json_schema", "json_schema": { "name": "answer", "schema": {…} } }: ${specUpdate(project)}.`,
    );
  }
  const unfit = metric === 'numeric' ? dataset?.survey.withoutNumber : null;
  if (unfit && unfit.count > 0) {
    yield warning(
      'acceptance_metric_unfit',
      path,
      `The metric is numeric, but ${unfit.count} of the records expect something without a number, the first is ${JSON.stringify(unfit.first)}.`,
      'Choose another metric, or give these records a number in `expected`.',
    );
  }
}

function* fieldRemarks({ project }: Reviewed, field: string, metric: string | null): Generator<Remark> {
  const path = 'spec.acceptance.field';
  const format = formatOf(project.spec.response_format);
  const { properties, additionalProperties } = schemaOf(format) ?? {};
  const [name = ''] = field.split('.');
  const isClosed = isObject(properties) && !Object.hasOwn(properties, name) && additionalProperties === false;
  if (metric === 'json_schema') {
    yield warning('acceptance_field_unused', path, 'The metric json_schema looks at the whole answer, not at a field.');
  } else if (!format || isClosed) {
    const missing = `The schema of the answers has no property ${JSON.stringify(name.slice(0, 100))}, so none can be right.`;
    yield warning(
      'acceptance_field_unfit',
      path,
      isClosed ? missing : 'An answer can be text that is not JSON. Such an answer counts as wrong.',
      `Let spec.response_format ask for JSON with this field: ${specUpdate(project)}.`,
    );
  }
}
