import type { Share } from '../jobs/statistics.js';
import type { JsonObject } from './json.js';
import type { Remark, Reviewed } from './remark.js';

/** Whether the last evaluation of the dataset reaches the acceptance threshold, and still tells of what is there now. */
export function* evaluationRemarks(reviewed: Reviewed): Generator<Remark> {
  const { project, dataset, runtime, evaluation } = reviewed;
  const threshold = (project.spec.acceptance as JsonObject | null | undefined)?.threshold;
  if (typeof threshold !== 'number' || threshold < 0 || threshold > 1) return;
  if (dataset?.state !== 'frozen' || runtime.modelId === null) return;
  const asked = `{ "kind": "evaluation", "project_id": "${project.id}", "dataset_id": "${dataset.id}" }`;
  const path = 'spec.acceptance.threshold';
  if (!evaluation) {
    // Nothing can be evaluated yet, and there is something else to do about that.
    if (runtime.state !== 'ready' && runtime.state !== 'loading') return;
    yield {
      level: 'info',
      code: 'evaluation_missing',
      path,
      message: 'No evaluation of the dataset has succeeded yet, so nothing tells whether the threshold is reached.',
      next: `Evaluate the model: POST /v1/jobs with ${asked}.`,
    };
    return;
  }
  const changes = changesSince(reviewed);
  if (changes.length > 0) {
    yield {
      level: 'warning',
      code: 'evaluation_outdated',
      path,
      message: `The last evaluation, ${evaluation.jobId}, measured ${changes.join(' and ')}.`,
      next: `Evaluate the model again: POST /v1/jobs with ${asked}.`,
    };
    return;
  }
  const { share } = evaluation;
  if (share.accuracy < threshold) {
    const hope = share.interval[1] >= threshold ? ' With so few records it may be chance.' : '';
    yield {
      level: 'blocking',
      code: 'acceptance_not_met',
      path,
      message: `The threshold is ${threshold}, and ${told(share)}.${hope}`,
      next: `See which records are wrong: GET /v1/jobs/${evaluation.jobId}/results.`,
    };
  } else {
    const doubt = share.interval[0] < threshold ? ' With so few records it may be chance.' : '';
    yield {
      level: 'info',
      code: 'acceptance_met',
      path,
      message: `The threshold is ${threshold}, and ${told(share)}.${doubt}`,
    };
  }
}

function changesSince({ project: { spec }, runtime, evaluation }: Reviewed): string[] {
  if (!evaluation) return [];
  const metric = (spec.acceptance as JsonObject).metric;
  const isOpen = metric === undefined || metric === null || metric === 'accuracy';
  const tolerance = (spec.acceptance as JsonObject).tolerance ?? 0;
  const isScoredAlike = isOpen || (metric === evaluation.metric && tolerance === evaluation.tolerance);
  const prompt = typeof spec.system_prompt === 'string' ? spec.system_prompt.trim() : '';
  return [
    runtime.modelId !== evaluation.modelId && 'another model',
    prompt !== (evaluation.systemPrompt ?? '').trim() && 'with another system prompt',
    !isScoredAlike && `by another metric, ${evaluation.metric}`,
  ].filter((change) => change !== false);
}

const told = ({ right, count, accuracy, interval }: Share): string =>
  `${right} of ${count} records were right: ${rounded(accuracy)}, or ${interval.map(rounded).join(' to ')} with 95 % certainty`;

const rounded = (share: number): number => Math.round(share * 1000) / 1000;
