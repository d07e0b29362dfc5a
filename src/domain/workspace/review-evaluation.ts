import type { Share } from '../jobs/evaluation.js';
import type { JsonObject } from './json.js';
import { blocking, info, type Remark, type Reviewed, type ReviewedEvaluation, warning } from './review-finding.js';

/** Tells whether the last evaluation of the dataset reaches the acceptance threshold and is still up to date. */
export function* evaluationRemarks(reviewed: Reviewed): Generator<Remark> {
  const { project, dataset, runtime, evaluation } = reviewed;
  const threshold = (project.spec.acceptance as JsonObject | null | undefined)?.threshold;
  if (typeof threshold !== 'number' || threshold < 0 || threshold > 1) return;
  if (dataset?.state !== 'frozen' || runtime.modelId === null) return;
  const call = `POST /v1/jobs with { "kind": "evaluation", "project_id": "${project.id}", "dataset_id": "${dataset.id}" }`;
  const path = 'spec.acceptance.threshold';
  if (!evaluation) {
    if (runtime.state !== 'ready' && runtime.state !== 'loading') return; // the runtime comes first
    const message =
      'No evaluation of the dataset has succeeded yet, so nothing tells whether the threshold is reached.';
    yield info('evaluation_missing', path, message, `Evaluate the model: ${call}.`);
    return;
  }
  const changes = changesSince(reviewed, evaluation);
  if (changes.length > 0) {
    const message = `The last evaluation, ${evaluation.jobId}, measured ${changes.join(' and ')}.`;
    yield warning('evaluation_outdated', path, message, `Evaluate the model again: ${call}.`);
    return;
  }
  const { accuracy, interval } = evaluation.share;
  const isMet = accuracy >= threshold;
  const isSure = isMet ? interval[0] >= threshold : interval[1] < threshold;
  const chance = isSure ? '' : ' With so few records it may be chance.';
  const message = `The threshold is ${threshold}, and ${summary(evaluation.share)}.${chance}`;
  const step = `See which records are wrong: GET /v1/jobs/${evaluation.jobId}/results.`;
  yield isMet ? info('acceptance_met', path, message) : blocking('acceptance_not_met', path, message, step);
}

function changesSince({ project: { spec }, runtime }: Reviewed, evaluation: ReviewedEvaluation): string[] {
  const { metric, tolerance } = spec.acceptance as JsonObject;
  const isOpen = metric === undefined || metric === null || metric === 'accuracy';
  const isScoredAlike = isOpen || (metric === evaluation.metric && (tolerance ?? 0) === evaluation.tolerance);
  const prompt = typeof spec.system_prompt === 'string' ? spec.system_prompt.trim() : '';
  return [
    runtime.modelId !== evaluation.modelId && 'another model',
    prompt !== (evaluation.systemPrompt ?? '').trim() && 'with another system prompt',
    !isScoredAlike && `by another metric, ${evaluation.metric}`,
  ].filter((change) => change !== false);
}

const summary = ({ right, count, accuracy, interval }: Share): string =>
  `${right} of ${count} records were right: ${rounded(accuracy)}, or ${interval.map(rounded).join(' to ')} with 95 % certainty`;

const rounded = (share: number): number => Math.round(share * 1000) / 1000;
