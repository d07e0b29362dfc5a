import type { components } from '../../shared/openapi-types.js';

export type Job = components['schemas']['Job'];
export type Share = components['schemas']['Share'];
export type Result = components['schemas']['EvaluationResult'];

interface Group extends Share {
  readonly group: string | null;
}

/** The result of an ended evaluation. `summaryOf` checks it, because the contract does not define its type. */
export interface Summary extends Share {
  readonly metric: string;
  readonly tolerance: number | null;
  readonly field: string | null;
  readonly errors: number;
  readonly groups: readonly Group[];
  readonly groups_left_out: number;
  readonly latency: Readonly<Record<'p50' | 'p95', number | null>>;
  readonly tokens: { readonly prompt: number; readonly completion: number } | null;
  readonly dataset: { readonly id: string; readonly version: number; readonly content_sha256: string };
  readonly model: { readonly id: string; readonly version: number };
  readonly project: { readonly id: string; readonly version: number };
  readonly runtime: { readonly path?: string; readonly model?: string; readonly response_format?: string | null };
}

/** Returns the summary of an evaluation, or null before its end and for an evaluation of another team. */
export function summaryOf({ kind, result }: Job): Summary | null {
  const found = result as Summary | null;
  return kind === 'evaluation' && typeof found === 'object' && found && Array.isArray(found.groups) ? found : null;
}

/** Returns what the engine calls the model. */
export const runtimeName = ({ runtime, model }: Summary): string => runtime.path ?? runtime.model ?? model.id;

export const isOpen = ({ status }: Job): boolean => status === 'queued' || status === 'running';

/** Returns the name of the metric, such as `numeric with a tolerance of 0.1, field total`. */
export const metricOf = ({ metric, tolerance, field }: Pick<Summary, 'metric' | 'tolerance' | 'field'>): string =>
  [tolerance ? `${metric} with a tolerance of ${tolerance}` : metric, field && `field ${field}`]
    .filter(Boolean)
    .join(', ');

/** Returns whether the service can compare two evaluations. They must have the same records and the same metric. */
export const isComparable = (one: Summary, other: Summary): boolean =>
  one.dataset.content_sha256 === other.dataset.content_sha256 && metricOf(one) === metricOf(other);

export type Wanted = 'all' | 'wrong' | 'right' | 'errors';

/** Returns the rows that fit the score, the group and the text. */
export function pick(
  rows: readonly Result[],
  { wanted, group, text }: { wanted: Wanted; group: string | null; text: string },
): readonly Result[] {
  const words = text.toLowerCase();
  const fits: Readonly<Record<Wanted, (row: Result) => boolean>> = {
    all: () => true,
    wrong: ({ score }) => score === 0,
    right: ({ score }) => score === 1,
    errors: ({ error }) => error !== null,
  };
  return rows.filter(
    (row) =>
      fits[wanted](row) &&
      (group === null || groupName(row.group) === group) &&
      (words === '' ||
        [row.record_id, row.input, row.expected, row.output, row.error].some((value) =>
          textOf(value).toLowerCase().includes(words),
        )),
  );
}

/** Returns a JSON value as text. A string is not changed. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value, null, 2);

/** Returns the name of a group. Records without a group form one group. */
export const groupName = (group: string | null): string => group ?? 'no group';
