import { InvalidRequest } from '../shared/errors.js';
import type { Dataset } from '../workspace/dataset.js';
import { isObject, type Json, type JsonObject } from '../workspace/json.js';
import type { Model } from '../workspace/model.js';
import type { Project } from '../workspace/project.js';
import { type Metric, metrics, type Score, type Scorer } from './scorer.js';
import { percentile, type Share, shareOf } from './statistics.js';

/** What is measured, and how: all that it takes to measure it again. Nothing of it changes. */
export interface Evaluation extends Scorer {
  readonly jobId: string;
  readonly projectId: string;
  /** Of the project, whose `system_prompt` is used. */
  readonly projectVersion: number;
  readonly systemPrompt: string | null;
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly contentSha256: string;
  readonly modelId: string;
  readonly modelVersion: number;
  /** What the model's spec says of how it runs. */
  readonly runtime: JsonObject;
}

/** What became of one record. */
export interface Result {
  /** The how manyth of the dataset it is, from 1 on. */
  readonly position: number;
  readonly recordId: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** Null where the model could not be asked: `error` says why, and the score is 0. */
  readonly output: string | null;
  readonly score: Score;
  /** Seconds from the moment at which the model took it up. */
  readonly latency: number;
  /** Null where the runtime does not report them. */
  readonly tokens: { readonly prompt: number; readonly completion: number } | null;
  readonly error: string | null;
}

export type Scored = Omit<Result, 'input' | 'expected' | 'output'>;

/** The same request gives the same answer; `max_tokens` is what chats have without one. */
export const ASKED = { temperature: 0, maxTokens: null } as const;

/** So many may wait at a time; those that run don't count. */
export const QUEUED_PER_TEAM = 20;

/** Of a spec with no metric, or with `accuracy`, which leaves it open. */
const USUAL_METRIC: Metric = 'normalized';

/** Groups that a summary tells apart, the largest ones. */
const MOST_GROUPS = 100;
const GROUP_NAME_LENGTH = 100;

const TOLD_OF_RUNTIME = ['runtime', 'path', 'dtype', 'base_url', 'model'];

export const Evaluation = {
  /** Throws InvalidRequest where a project's spec asks for what no evaluation measures. */
  scorer: ({ spec }: Pick<Project, 'spec'>): Scorer => scorerOf(spec),

  of(jobId: string, { project, model, dataset, scorer }: Evaluated): Evaluation {
    const { system_prompt: systemPrompt } = project.spec;
    const told = Object.entries(model.spec).filter(([name]) => TOLD_OF_RUNTIME.includes(name));
    return {
      ...scorer,
      jobId,
      projectId: project.id,
      projectVersion: project.version,
      systemPrompt: typeof systemPrompt === 'string' && systemPrompt.trim() !== '' ? systemPrompt : null,
      datasetId: dataset.id,
      datasetVersion: dataset.version,
      contentSha256: dataset.contentSha256,
      modelId: model.id,
      modelVersion: model.version,
      runtime: Object.fromEntries(told),
    };
  },

  summary: (evaluation: Evaluation, results: readonly Scored[]): Summary => {
    const seconds = results.filter(({ error }) => error === null).map(({ latency }) => latency);
    const tokens = results.flatMap((result) => result.tokens ?? []);
    const groups = groupsOf(results);
    return {
      metric: evaluation.metric,
      tolerance: evaluation.metric === 'numeric' ? evaluation.tolerance : null,
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
      tokens:
        tokens.length === 0
          ? null
          : {
              prompt: sum(tokens.map(({ prompt }) => prompt)),
              completion: sum(tokens.map(({ completion }) => completion)),
            },
      dataset: {
        id: evaluation.datasetId,
        version: evaluation.datasetVersion,
        content_sha256: evaluation.contentSha256,
      },
      model: { id: evaluation.modelId, version: evaluation.modelVersion },
      project: { id: evaluation.projectId, version: evaluation.projectVersion },
      runtime: { ...evaluation.runtime, temperature: ASKED.temperature, max_tokens: ASKED.maxTokens },
    };
  },
};

interface Evaluated {
  readonly project: Project;
  readonly model: Model;
  readonly dataset: Pick<Dataset, 'id' | 'version' | 'contentSha256'>;
  readonly scorer: Scorer;
}

/** A job's result, as callers read it. */
export type Summary = Share & {
  readonly metric: Metric;
  readonly tolerance: number | null;
  readonly errors: number;
  readonly groups: readonly (Share & { readonly group: string | null })[];
  readonly groups_left_out: number;
  readonly latency: Readonly<Record<'p50' | 'p90' | 'p95' | 'p99' | 'max', number | null>>;
  readonly tokens: { readonly prompt: number; readonly completion: number } | null;
  readonly dataset: { readonly id: string; readonly version: number; readonly content_sha256: string };
  readonly model: { readonly id: string; readonly version: number };
  readonly project: { readonly id: string; readonly version: number };
  readonly runtime: JsonObject;
};

function scorerOf({ acceptance }: JsonObject): Scorer {
  const { metric, tolerance } = isObject(acceptance ?? null) ? (acceptance as JsonObject) : {};
  const named = typeof metric === 'string' && metric.trim() !== '' ? metric : USUAL_METRIC;
  const known = named === 'accuracy' ? USUAL_METRIC : metrics.find((one) => one === named);
  if (!known) throw unfit('metric', `must be accuracy or one of ${metrics.join(', ')} to be evaluated`);
  if (tolerance === undefined || tolerance === null) return { metric: known, tolerance: 0 };
  if (typeof tolerance !== 'number' || tolerance < 0) throw unfit('tolerance', 'must be a number from 0 on');
  return { metric: known, tolerance };
}

const unfit = (field: string, message: string) =>
  new InvalidRequest([{ path: 'project_id', message: `spec.acceptance.${field} of the project ${message}` }]);

/** Largest first; of groups alike in size the first of the dataset. */
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

const share = (results: readonly Scored[]): Share => shareOf(sum(results.map(({ score }) => score)), results.length);

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
