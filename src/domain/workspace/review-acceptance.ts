import type { JsonObject } from './json.js';
import type { Remark, Reviewed } from './remark.js';

/** How answers can be compared with what is expected; `accuracy` leaves the choice to the evaluation. */
const METRICS = ['accuracy', 'exact', 'normalized', 'contains', 'numeric'];

/** When the project counts as good enough, and whether that can be measured. */
export function* acceptanceRemarks({ project, dataset }: Reviewed): Generator<Remark> {
  const acceptance = project.spec.acceptance as JsonObject | null | undefined;
  const update = `PUT /v1/projects/${project.id} with version ${project.version}`;
  const path = 'spec.acceptance';
  if (!acceptance) {
    yield {
      level: 'warning',
      code: 'acceptance_missing',
      path,
      message: 'The spec does not say when a model is good enough.',
      next: `Set spec.acceptance to a metric and a threshold, such as { "metric": "normalized", "threshold": 0.9 }: ${update}.`,
    };
    return;
  }
  const metric = (acceptance.metric ?? null) as string | null;
  const threshold = (acceptance.threshold ?? null) as number | null;
  if (threshold === null) {
    yield {
      level: 'blocking',
      code: 'acceptance_threshold_missing',
      path: `${path}.threshold`,
      message: 'A metric without a threshold accepts nothing and refuses nothing.',
      next: `Set spec.acceptance.threshold to the share of right answers that is enough, from 0 to 1: ${update}.`,
    };
  } else if (threshold < 0 || threshold > 1) {
    yield {
      level: 'blocking',
      code: 'acceptance_threshold_out_of_range',
      path: `${path}.threshold`,
      message: `A share of right answers lies between 0 and 1: ${threshold} ${threshold > 1 ? 'can never be reached' : 'is reached by anything'}.`,
      next: `Set spec.acceptance.threshold to a share from 0 to 1${threshold > 1 && threshold <= 100 ? ` (${threshold / 100}?)` : ''}: ${update}.`,
    };
  } else if (threshold === 0) {
    yield {
      level: 'warning',
      code: 'acceptance_always_met',
      path: `${path}.threshold`,
      message: 'A threshold of 0 is met by a model that answers nothing right.',
    };
  }
  if (metric === null || metric.trim() === '') {
    yield {
      level: 'warning',
      code: 'acceptance_metric_missing',
      path: `${path}.metric`,
      message: `The threshold has no metric: ${METRICS.join(', ')}.`,
    };
  } else if (!METRICS.includes(metric)) {
    yield {
      level: 'warning',
      code: 'acceptance_metric_unknown',
      path: `${path}.metric`,
      message: `No evaluation measures ${JSON.stringify(metric.slice(0, 100))}; it can be one of ${METRICS.join(', ')}.`,
      next: `Choose a metric that evaluations measure, in spec.acceptance.metric: ${update}.`,
    };
  }
  const texts = metric === 'numeric' ? (dataset?.records ?? []).filter(({ expected }) => !holdsNumber(expected)) : [];
  if (texts.length > 0) {
    yield {
      level: 'warning',
      code: 'acceptance_metric_unfit',
      path: `${path}.metric`,
      message: `The metric is numeric, but ${texts.length} of the records expect something without a number, the first is ${JSON.stringify(texts[0]?.id)}.`,
      next: 'Choose another metric, or give these records a number in `expected`.',
    };
  }
}

const holdsNumber = (expected: unknown): boolean =>
  typeof expected === 'number' || (typeof expected === 'string' && /\d/.test(expected));
