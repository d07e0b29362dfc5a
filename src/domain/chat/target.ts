import { type Finding, InvalidRequest } from '../shared/errors.js';

/** A target with its weight in a split. */
export interface WeightedTarget {
  readonly modelId: string;
  readonly weight: number;
}

/**
 * The targets of a project's runtime: the models that may answer its calls. A call tries one target after another until
 * one answers.
 */
export interface Targets {
  /** The model that stands for the runtime. Without a split, calls try it first. */
  readonly modelId: string;
  /** The models that calls try after it, in this order. Empty with a split. */
  readonly fallbacks: readonly string[];
  /** If present, each call draws its first target by these weights, and the others are its fallbacks. */
  readonly split: readonly WeightedTarget[] | null;
}

/** The targets as a caller names them. */
export interface WantedTargets {
  readonly modelId: string | null;
  readonly fallbacks: readonly string[];
  readonly split: readonly WeightedTarget[] | null;
}

export const targetLimits = { targets: 4, weight: 1_000 } as const;

/** A model of a request, with the path of the field that names it. */
export interface NamedModel {
  readonly path: string;
  readonly modelId: string;
}

export const Targets = {
  /** Returns the targets that a caller wants. Throws InvalidRequest with all problems. */
  of({ modelId: wanted, fallbacks, split }: WantedTargets): Targets {
    const modelId = wanted ?? split?.[0]?.modelId;
    if (modelId === undefined) throw new InvalidRequest([{ path: 'model_id', message: 'must name a model' }]);
    const targets = { modelId, fallbacks, split };
    const findings = [...problemsOf(targets), ...repeatedIn(Targets.named(targets))];
    if (findings.length > 0) throw new InvalidRequest(findings);
    return targets;
  },

  /** Returns the model ids in their usual order. */
  ids: ({ modelId, fallbacks, split }: Targets): readonly string[] =>
    split ? split.map((one) => one.modelId) : [modelId, ...fallbacks],

  /** Returns the models with the paths of the fields that name them. */
  named: ({ modelId, fallbacks, split }: Targets): readonly NamedModel[] =>
    split
      ? split.map((one, i) => ({ path: `split.${i}.model_id`, modelId: one.modelId }))
      : [{ path: 'model_id', modelId }, ...fallbacks.map((one, i) => ({ path: `fallbacks.${i}`, modelId: one }))],

  /** Returns the model ids in the order in which a call tries them. `drawn` is a random number from 0 to below 1. */
  order(targets: Targets, drawn: number): readonly string[] {
    const ids = Targets.ids(targets);
    if (!targets.split) return ids;
    let left = drawn * sumOf(targets.split);
    const first = targets.split.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return first ? [first.modelId, ...ids.filter((id) => id !== first.modelId)] : ids;
  },

  /** Returns the part of the calls that try the model first, from 0 to 1. */
  share({ modelId: first, split }: Targets, modelId: string): number {
    if (!split) return modelId === first ? 1 : 0;
    return (split.find((one) => one.modelId === modelId)?.weight ?? 0) / sumOf(split);
  },

  isSame: (one: Targets, other: Targets): boolean => textOf(one) === textOf(other),
};

/** The runtime of a target has an id of its own on each instance. */
export const RuntimeId = {
  of: (projectId: string, modelId: string): string => `${projectId}/${modelId}`,

  /** Returns the project and the model of a runtime. `model` is empty for an id without a model. */
  parts(id: string): { project: string; model: string } {
    const [project = '', model = ''] = id.split('/');
    return { project, model };
  },
};

const sumOf = (split: readonly WeightedTarget[]): number => split.reduce((sum, { weight }) => sum + weight, 0);

const textOf = ({ modelId, fallbacks, split }: Targets): string =>
  JSON.stringify([modelId, fallbacks, split?.map((one) => [one.modelId, one.weight]) ?? null]);

function problemsOf({ modelId, fallbacks, split }: Targets): Finding[] {
  const { targets: most, weight: heaviest } = targetLimits;
  const tooMany = `must leave at most ${most} models in all`;
  if (!split) return fallbacks.length < most ? [] : [{ path: 'fallbacks', message: tooMany }];
  const findings: Finding[] = [];
  if (fallbacks.length > 0)
    findings.push({ path: 'fallbacks', message: 'cannot be combined with split: the models of a split are fallbacks' });
  if (split.length > most) findings.push({ path: 'split', message: tooMany });
  if (!split.some((one) => one.modelId === modelId))
    findings.push({ path: 'split', message: 'must have the model of model_id among its models' });
  for (const [i, { weight }] of split.entries())
    if (!(weight > 0 && weight <= heaviest))
      findings.push({ path: `split.${i}.weight`, message: `must be a number above 0, and at most ${heaviest}` });
  return findings;
}

function repeatedIn(named: readonly NamedModel[]): Finding[] {
  const seen = new Set<string>();
  return named.flatMap(({ path, modelId }) => {
    if (!seen.has(modelId)) {
      seen.add(modelId);
      return [];
    }
    return [{ path, message: 'must name another model than the entries before it' }];
  });
}
