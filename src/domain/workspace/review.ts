import type { Share } from '../jobs/evaluation.js';
import { isSame, type Json, type JsonObject } from './json.js';
import type { RecordSurvey } from './record-survey.js';
import {
  acceptanceRemarks,
  blocking,
  type FindingLevel,
  formatRemarks,
  goalRemarks,
  info,
  isBlank,
  type Remark,
  type Reviewed,
  type ReviewedDataset,
  type ReviewedEvaluation,
  type ReviewFinding,
  specUpdate,
  warning,
} from './review-finding.js';
import { formatOf } from './spec-format.js';

export interface Review {
  readonly projectId: string;
  readonly version: number;
  /** True if no finding blocks. */
  readonly ready: boolean;
  /** Blocking findings first, then warnings, then information. */
  readonly findings: readonly ReviewFinding[];
  readonly nextSteps: readonly string[];
}

const levels: readonly FindingLevel[] = ['blocking', 'warning', 'info'];

/** Lists the missing and contradictory parts of a project, and the next steps. Deterministic. */
export function review(reviewed: Reviewed): Review {
  const { project } = reviewed;
  const remarks = [
    ...goalRemarks(reviewed),
    ...formatRemarks(reviewed),
    ...acceptanceRemarks(reviewed),
    ...datasetRemarks(reviewed),
    ...modelRemarks(reviewed),
    ...priceRemarks(reviewed),
    ...runtimeRemarks(reviewed),
    ...evaluationRemarks(reviewed),
  ];
  const sorted = levels.flatMap((level) => remarks.filter((remark) => remark.level === level));
  const steps = sorted.flatMap(({ next }) => next ?? []);
  const chat = `Chat with the model: POST /v1/projects/${project.id}/chat/completions.`;
  return {
    projectId: project.id,
    version: project.version,
    ready: sorted.every(({ level }) => level !== 'blocking'),
    findings: sorted.map(({ next: _, ...finding }) => finding),
    nextSteps: steps.length > 0 ? [...new Set(steps)] : [chat],
  };
}

/** Checks that the project has a registered model. */
function* modelRemarks({ project, models }: Reviewed): Generator<Remark> {
  const url = `/v1/projects/${project.id}/models`;
  const [draft] = models;
  if (!draft) {
    yield warning(
      'model_missing',
      'models',
      'The project has no model.',
      `Draft a model, POST ${url} with { "request_id": "<a UUID>", "spec": { "runtime": "onnx", "path": "tiny-chat" } }, and register it.`,
    );
  } else if (models.every(({ state }) => state === 'draft')) {
    yield warning(
      'model_unregistered',
      'models',
      'All models of the project are drafts, which can still change and cannot be connected.',
      `Register a model: POST ${url}/${draft.id}/register with its version.`,
    );
  }
}

/** Checks that a budget for costs can count the calls of the model. */
function* priceRemarks({ project, unpriced }: Reviewed): Generator<Remark> {
  if (unpriced === null) return;
  yield warning(
    'model_unpriced',
    'models',
    `A budget limits what calls cost, but the model ${unpriced} has no prices, so its calls count as nothing.`,
    `Draft a model with "prices": { "input": …, "output": … } in its spec, POST /v1/projects/${project.id}/models, register and connect it.`,
  );
}

/** Checks that the runtime answers. A model that is loading counts as ready. */
function* runtimeRemarks({ project, models, runtime }: Reviewed): Generator<Remark> {
  const url = `/v1/projects/${project.id}/runtime`;
  const registered = models.find(({ state }) => state === 'registered');
  if (runtime.state === 'not_connected' && registered) {
    yield warning(
      'runtime_not_connected',
      'runtime',
      'No model is connected, so nothing answers.',
      `Connect a registered model, PUT ${url} with { "model_id": "${registered.id}" }, and start it: POST ${url}/start.`,
    );
  } else if (runtime.state === 'stopped') {
    const message = `The runtime of model ${runtime.modelId} is stopped.`;
    yield warning('runtime_stopped', 'runtime', message, `Start the runtime: POST ${url}/start.`);
  } else if (runtime.state === 'unavailable') {
    yield warning(
      'runtime_unavailable',
      'runtime',
      `The runtime is unavailable: ${runtime.reason ?? 'it does not run'}`,
      `Mend what the reason names, then start the runtime again: POST ${url}/start.`,
    );
  }
}

const FEW_RECORDS = 20;
const FEW_IN_GROUP = 3;
const NAMED = 5;

const DATASET_PATH = 'spec.dataset_id';

/** Checks that the spec names a dataset and that its records can show how good a model is. */
function* datasetRemarks({ project, dataset }: Reviewed): Generator<Remark> {
  const wanted = project.spec.dataset_id;
  const datasets = `/v1/projects/${project.id}/datasets`;
  if (isBlank(wanted)) {
    const starter = project.spec.starter_id;
    const body = typeof starter === 'string' ? `{ "starter_id": ${JSON.stringify(starter)} }` : '{ "records": […] }';
    yield warning(
      'dataset_missing',
      DATASET_PATH,
      'The spec names no dataset, so no model can be measured.',
      `Import a dataset, POST ${datasets} with ${body}, and name it in spec.dataset_id: ${specUpdate(project)}.`,
    );
  } else if (!dataset) {
    yield blocking(
      'dataset_unknown',
      DATASET_PATH,
      `The project has no dataset ${JSON.stringify(String(wanted).slice(0, 100))}.`,
      `Name a dataset of this project in spec.dataset_id (GET ${datasets} lists them): ${specUpdate(project)}.`,
    );
  } else {
    yield* stateRemarks(dataset, `${datasets}/${dataset.id}`);
    yield* recordRemarks(dataset.survey);
  }
}

function* stateRemarks({ name, state, valid }: ReviewedDataset, url: string): Generator<Remark> {
  if (!valid) {
    yield blocking(
      'dataset_invalid',
      DATASET_PATH,
      `The dataset ${JSON.stringify(name)} does not validate: its own \`validation\` lists why.`,
      `Mend the records that GET ${url} lists in validation.findings: PUT ${url}.`,
    );
  } else if (state === 'editable') {
    yield warning(
      'dataset_editable',
      DATASET_PATH,
      `The dataset ${JSON.stringify(name)} can still change; only scores on the same frozen records compare.`,
      `Freeze the dataset: POST ${url}/freeze.`,
    );
  }
}

function* recordRemarks({ count, groups, contradictions, repetitions }: RecordSurvey): Generator<Remark> {
  if (contradictions.length > 0) {
    yield warning(
      'records_contradict',
      DATASET_PATH,
      `The same input is expected to give different answers: ${listed(contradictions)}.`,
      'Let one expectation stand for each input: no model can meet two.',
    );
  }
  if (repetitions.length > 0) {
    yield info(
      'records_repeat',
      DATASET_PATH,
      `The same input and answer count more than once: ${listed(repetitions)}.`,
    );
  }
  if (count > 0 && count < FEW_RECORDS) {
    const points = (100 / count).toFixed(1);
    yield info(
      'records_few',
      DATASET_PATH,
      `The dataset has few records (${count}): a single record moves the score by ${points} points.`,
    );
  }
  const small = [...groups].filter(([, size]) => size < FEW_IN_GROUP).map(([group]) => [group]);
  if (small.length > 0) {
    const message = `A score by group says little where a group has fewer than ${FEW_IN_GROUP} records: ${listed(small)}.`;
    yield info('groups_small', DATASET_PATH, message);
  }
}

/** Lists the first sets of ids and counts the others. */
function listed(sets: readonly (readonly string[])[]): string {
  const shown = sets.slice(0, NAMED).map((ids) =>
    ids
      .slice(0, NAMED)
      .map((id) => JSON.stringify(id))
      .join(' and '),
  );
  const more = sets.length > NAMED ? `, and ${sets.length - NAMED} more` : '';
  return shown.join(', ') + more;
}

/** Checks that the last evaluation of the dataset is up to date and reaches the acceptance threshold. */
function* evaluationRemarks(reviewed: Reviewed): Generator<Remark> {
  const { project, dataset, runtime, evaluation } = reviewed;
  const threshold = (project.spec.acceptance as JsonObject | null | undefined)?.threshold;
  if (typeof threshold !== 'number' || threshold < 0 || threshold > 1) return;
  if (dataset?.state !== 'frozen' || runtime.modelId === null) return;
  const call = `POST /v1/jobs with { "kind": "evaluation", "project_id": "${project.id}", "dataset_id": "${dataset.id}" }`;
  const path = 'spec.acceptance.threshold';
  if (!evaluation) {
    if (runtime.state !== 'ready' && runtime.state !== 'loading') return; // the finding about the runtime comes first
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
  const { metric, tolerance, field } = spec.acceptance as JsonObject;
  const isOpen = metric === undefined || metric === null || metric === 'accuracy';
  const isScoredAlike = isOpen || (metric === evaluation.metric && (tolerance ?? 0) === evaluation.tolerance);
  const prompt = typeof spec.system_prompt === 'string' ? spec.system_prompt.trim() : '';
  return [
    runtime.modelId !== evaluation.modelId && 'another model',
    prompt !== (evaluation.systemPrompt ?? '').trim() && 'with another system prompt',
    !isSame(formatOf(spec.response_format) as Json, (evaluation.responseFormat ?? null) as Json) &&
      'with another response format',
    !isScoredAlike && `by another metric, ${evaluation.metric}`,
    evaluation.metric !== 'json_schema' && (field || null) !== (evaluation.field ?? null) && 'by another field',
  ].filter((change) => change !== false);
}

const summary = ({ right, count, accuracy, interval }: Share): string =>
  `${right} of ${count} records were right: ${rounded(accuracy)}, or ${interval.map(rounded).join(' to ')} with 95 % certainty`;

const rounded = (share: number): number => Math.round(share * 1000) / 1000;
