import { InvalidRequest } from '../shared/errors.js';
import { ModelRegistered } from './errors.js';
import type { JsonObject } from './json.js';
import { requireVersion } from './project.js';

export interface Model {
  readonly id: string;
  readonly projectId: string;
  /** A UUID in lower case; at most one model of a project has it. */
  readonly requestId: string;
  readonly version: number;
  readonly state: 'draft' | 'registered';
  readonly spec: JsonObject;
  /** Canonical text of the spec that the creation carried, to tell a repetition from a conflict. */
  readonly requestedSpec: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The account that made the current version. */
  readonly updatedBy: string;
  readonly registeredAt: Date | null;
  /** The model, and its version, that this one was forked from. */
  readonly forkedFrom: { readonly modelId: string; readonly version: number } | null;
}

type Draft = Pick<Model, 'id' | 'projectId' | 'requestId' | 'spec' | 'requestedSpec' | 'createdBy' | 'createdAt'>;

export const Model = {
  draft: (draft: Draft): Model => ({
    ...draft,
    version: 1,
    state: 'draft',
    updatedAt: draft.createdAt,
    updatedBy: draft.createdBy,
    registeredAt: null,
    forkedFrom: null,
  }),

  /** Throws ModelRegistered, or StaleVersion unless every version in `expected` is the model's own. */
  register(model: Model, expected: readonly number[], at: Date): Model {
    if (model.state === 'registered') throw new ModelRegistered();
    requireVersion(model, expected);
    return { ...model, state: 'registered', registeredAt: at };
  },

  /** The model folder that an `onnx` runtime is to load, relative to a models folder or absolute within one. */
  runtimePath(model: Model): string {
    const { runtime, path } = model.spec;
    if (model.state !== 'registered') throw unfit('model_id', 'must be a registered model: register it first');
    if (runtime !== 'onnx') throw unfit('spec.runtime', 'must be "onnx" for a model that is to be connected');
    if (typeof path !== 'string' || path === '') throw unfit('spec.path', 'must name a model folder');
    return path;
  },
};

const unfit = (path: string, message: string) => new InvalidRequest([{ path, message }]);

/** Takes every usual form of a UUID (letter case, braces, `urn:uuid:`, without hyphens); null for anything else. */
export function canonicalUuid(text: string): string | null {
  const hex = text
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1');
  const grouped = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/.exec(hex);
  return grouped ? grouped.slice(1).join('-') : null;
}
