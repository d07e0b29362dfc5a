import type { JsonObject } from './json.js';
import { blocking, info, isBlank, type Remark, type Reviewed, specUpdate, warning } from './review-finding.js';

/** The ways to compare an answer with the expected one; `accuracy` leaves the choice to the evaluation. */
const METRICS = ['accuracy', 'exact', 'normalized', 'contains', 'numeric'];

/** Tells whether the spec says what the model is for. */
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

/** Tells whether the spec says when a model is good enough, and whether that can be measured. */
export function* acceptanceRemarks(reviewed: Reviewed): Generator<Remark> {
  const acceptance = reviewed.project.spec.acceptance as JsonObject | null | undefined;
  if (acceptance) {
    yield* thresholdRemarks(reviewed, (acceptance.threshold ?? null) as number | null);
    yield* metricRemarks(reviewed, (acceptance.metric ?? null) as string | null);
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
  const texts = metric === 'numeric' ? (dataset?.records ?? []).filter(({ expected }) => !holdsNumber(expected)) : [];
  if (texts.length > 0) {
    yield warning(
      'acceptance_metric_unfit',
      path,
      `The metric is numeric, but ${texts.length} of the records expect something without a number, the first is ${JSON.stringify(texts[0]?.id)}.`,
      'Choose another metric, or give these records a number in `expected`.',
    );
  }
}

const holdsNumber = (expected: unknown): boolean =>
  typeof expected === 'number' || (typeof expected === 'string' && /\d/.test(expected));
