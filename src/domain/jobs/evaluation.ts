import { InvalidRequest } from '../shared/errors.js';
import type { Dataset } from '../workspace/dataset.js';
import { isObject, type Json, type JsonObject } from '../workspace/json.js';
import type { Model } from '../workspace/model.js';
import type { Project } from '../workspace/project.js';
import { formatOf, type SpecFormat, schemaOf } from '../workspace/spec-format.js';
import { type Metric, metrics, type Score, type Scorer } from './scorer.js';

/** Holds everything that is needed to repeat an evaluation. Immutable. */
export interface Evaluation extends Scorer {
  readonly jobId: string;
  readonly projectId: string;
  /** The version of the project with this system prompt and response format. */
  readonly projectVersion: number;
  readonly systemPrompt: string | null;
  /** If absent, an answer may be any text. */
  readonly responseFormat?: SpecFormat;
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly contentSha256: string;
  readonly modelId: string;
  readonly modelVersion: number;
  /** The API key that asked, whose budgets its calls are under. Absent for a session. */
  readonly keyId?: string;
  /** The fields of the model's spec that tell how the model runs. */
  readonly runtime: JsonObject;
}

/** The score of one record. */
export interface Result {
  /** Counts the records of the dataset from 1. */
  readonly position: number;
  readonly recordId: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** The answer of the model. Null: the model could not answer. Then `error` says why, and the score is 0. */
  readonly output: string | null;
  readonly score: Score;
  /** Seconds that the model needed for its answer. */
  readonly latency: number;
  /** The tokens of the call. Null: the runtime does not report them. */
  readonly tokens: Tokens | null;
  readonly error: string | null;
  /** The model that has answered. Null: none has, or the result is of an earlier version. */
  readonly modelId: string | null;
}

export interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

export type Scored = Omit<Result, 'input' | 'expected' | 'output'>;

/** Temperature 0 makes answers repeatable. `maxTokens` has the default of chats. */
export const SAMPLING = { temperature: 0, maxTokens: null } as const;

/** Limits the queued evaluations. Running evaluations do not count. */
export const QUEUED_PER_TEAM = 20;

/** The metric for a spec that names no metric or names `accuracy`. */
const USUAL_METRIC: Metric = 'normalized';

/** A summary has at most this many groups, the largest ones. */
const MOST_GROUPS = 100;
const GROUP_NAME_LENGTH = 100;

const RUNTIME_FIELDS = ['runtime', 'path', 'dtype', 'base_url', 'model'];

export const Evaluation = {
  /** Returns the scorer that a project's spec asks for. Throws InvalidRequest if an evaluation cannot use it. */
  scorer: ({ spec }: Pick<Project, 'spec'>): Scorer => scorerOf(spec),

  /** Returns the system prompt that comes before each input, or null. */
  systemPrompt: ({ spec: { system_prompt: prompt } }: Pick<Project, 'spec'>): string | null =>
    typeof prompt === 'string' && prompt.trim() !== '' ? prompt : null,

  of(jobId: string, { project, model, dataset, scorer, keyId = null }: Evaluated): Evaluation {
    const responseFormat = formatOf(project.spec.response_format);
    const runtime = Object.entries(model.spec).filter(([name]) => RUNTIME_FIELDS.includes(name));
    return {
      ...scorer,
      jobId,
      projectId: project.id,
      projectVersion: project.version,
      systemPrompt: Evaluation.systemPrompt(project),
      ...(responseFormat && { responseFormat }),
      datasetId: dataset.id,
      datasetVersion: dataset.version,
      contentSha256: dataset.contentSha256,
      modelId: model.id,
      modelVersion: model.version,
      ...(keyId !== null && { keyId }),
      runtime: Object.fromEntries(runtime),
    };
  },

  summary: (evaluation: Evaluation, results: readonly Scored[]): Summary => {
    const seconds = results.filter(({ error }) => error === null).map(({ latency }) => latency);
    const groups = groupsOf(results);
    return {
      metric: evaluation.metric,
      tolerance: evaluation.metric === 'numeric' ? evaluation.tolerance : null,
      field: evaluation.field ?? null,
      ...share(results),
      errors: results.filter(({ error }) => error !== null).length,
      groups: groups.slice(0, MOST_GROUPS),
      groups_left_out: Math.max(0, groups.length - MOST_GROUPS),
      latency: {
        p50: percentile(seconds, 0.5),
        p90: percentile(seconds, 0.9),
        p95: percentile(seconds, 0.95),
        p99: percentile(seconds, 0.99),
        max: percentile(seconds, 1),
      },
      tokens: tokensOf(results),
      dataset: {
        id: evaluation.datasetId,
        version: evaluation.datasetVersion,
        content_sha256: evaluation.contentSha256,
      },
      model: { id: evaluation.modelId, version: evaluation.modelVersion },
      project: { id: evaluation.projectId, version: evaluation.projectVersion },
      runtime: {
        ...evaluation.runtime,
        temperature: SAMPLING.temperature,
        max_tokens: SAMPLING.maxTokens,
        response_format: evaluation.responseFormat?.type ?? null,
      },
    };
  },
};

interface Evaluated {
  readonly project: Project;
  readonly model: Model;
  readonly dataset: Pick<Dataset, 'id' | 'version'> & { readonly contentSha256: string };
  readonly scorer: Scorer;
  readonly keyId?: string | null;
}

/** The result of the job, as callers read it. */
type Summary = Share & {
  readonly metric: Metric;
  readonly tolerance: number | null;
  readonly field: string | null;
  readonly errors: number;
  readonly groups: readonly (Share & { readonly group: string | null })[];
  readonly groups_left_out: number;
  readonly latency: Readonly<Record<'p50' | 'p90' | 'p95' | 'p99' | 'max', number | null>>;
  readonly tokens: Tokens | null;
  readonly dataset: { readonly id: string; readonly version: number; readonly content_sha256: string };
  readonly model: { readonly id: string; readonly version: number };
  readonly project: { readonly id: string; readonly version: number };
  readonly runtime: JsonObject;
};

function scorerOf({ acceptance, response_format: format }: JsonObject): Scorer {
  const { metric, tolerance, field }: JsonObject = isObject(acceptance) ? acceptance : {};
  const named = typeof metric === 'string' && metric.trim() !== '' ? metric : USUAL_METRIC;
  const known = named === 'accuracy' ? USUAL_METRIC : metrics.find((one) => one === named);
  if (!known) throw unfit('metric', `must be accuracy or one of ${metrics.join(', ')} to be evaluated`);
  if (known === 'json_schema' && !schemaOf(formatOf(format)))
    throw unfit('metric', 'needs a JSON schema in spec.response_format');
  const allowed = tolerance ?? 0;
  if (typeof allowed !== 'number' || allowed < 0) throw unfit('tolerance', 'must be a number from 0 on');
  const hasField = typeof field === 'string' && field !== '' && known !== 'json_schema';
  return { metric: known, tolerance: allowed, ...(hasField && { field }) };
}

const unfit = (field: string, message: string) =>
  new InvalidRequest([{ path: 'project_id', message: `spec.acceptance.${field} of the project ${message}` }]);

/** Returns groups sorted by size. Groups of the same size have the order of the dataset. */
function groupsOf(results: readonly Scored[]): (Share & { group: string | null })[] {
  const groups = new Map<string | null, Scored[]>();
  for (const result of results) {
    const group = result.group === null ? null : [...result.group].slice(0, GROUP_NAME_LENGTH).join('');
    const members = groups.get(group);
    if (members) members.push(result);
    else groups.set(group, [result]);
  }
  const shares = [...groups].map(([group, members]) => ({ group, ...share(members) }));
  return shares.sort((a, b) => b.count - a.count);
}

/** Returns the sums of the known tokens, or null if none are known. */
export function tokensOf(results: readonly Pick<Scored, 'tokens'>[]): Tokens | null {
  const known = results.flatMap(({ tokens }) => tokens ?? []);
  if (known.length === 0) return null;
  return {
    prompt: sum(known.map(({ prompt }) => prompt)),
    completion: sum(known.map(({ completion }) => completion)),
  };
}

const share = (results: readonly Scored[]): Share => shareOf(sum(results.map(({ score }) => score)), results.length);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

export interface Share {
  readonly count: number;
  readonly right: number;
  /** `right / count`. */
  readonly accuracy: number;
  /** Wilson's 95 % confidence interval. */
  readonly interval: readonly [low: number, high: number];
}

/** Quantile of the normal distribution for a 95 % interval. */
const Z = 1.959963984540054;

/** Requires `count` to be at least 1. */
export function shareOf(right: number, count: number): Share {
  const accuracy = right / count;
  const square = Z ** 2 / count;
  const middle = (accuracy + square / 2) / (1 + square);
  const half = (Z / (1 + square)) * Math.sqrt((accuracy * (1 - accuracy)) / count + square / (4 * count));
  // Rounding errors must not change the bound 0 if no record is right, or the bound 1 if all are right.
  const low = right === 0 ? 0 : middle - half;
  const high = right === count ? 1 : middle + half;
  return { count, right, accuracy, interval: [low, high] };
}

/** Returns the nearest-rank percentile for `part` from 0 to 1, or null without values. */
export function percentile(values: readonly number[], part: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null;
}
