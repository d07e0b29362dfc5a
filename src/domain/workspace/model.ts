import { InvalidRequest } from '../shared/errors.js';
import { ModelRegistered } from './errors.js';
import type { JsonObject } from './json.js';
import { requireVersion } from './project.js';

export interface Model {
  readonly id: string;
  readonly projectId: string;
  /** A UUID in lower case, unique in the project. */
  readonly requestId: string;
  readonly version: number;
  readonly state: 'draft' | 'registered';
  readonly spec: JsonObject;
  /** The canonical spec or the fork that the creation asked for. A repeated `requestId` must come with the same text. */
  readonly requestedSpec: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The account that made the current version. */
  readonly updatedBy: string;
  readonly registeredAt: Date | null;
  /** The original of a fork and its copied version. */
  readonly forkedFrom: { readonly modelId: string; readonly version: number } | null;
}

/** One version of a model. `createdBy` is the account that made this version. */
export interface ModelVersion {
  readonly modelId: string;
  readonly version: number;
  readonly spec: JsonObject;
  readonly createdBy: string;
  readonly createdAt: Date;
}

type Draft = Pick<Model, 'id' | 'projectId' | 'requestId' | 'spec' | 'requestedSpec' | 'createdBy' | 'createdAt'> &
  Partial<Pick<Model, 'forkedFrom'>>;

export const Model = {
  draft: ({ forkedFrom = null, ...draft }: Draft): Model => ({
    ...draft,
    version: 1,
    state: 'draft',
    updatedAt: draft.createdAt,
    updatedBy: draft.createdBy,
    registeredAt: null,
    forkedFrom,
  }),

  /** Returns the id and the name, which is the `name`, the `model` or the `path` of the spec, or null. */
  named({ id, spec }: Model): { id: string; name: string | null } {
    const name = [spec.name, spec.model, spec.path].find((text) => typeof text === 'string' && text !== '');
    return { id, name: (name as string | undefined) ?? null };
  },

  /** Throws ModelRegistered. Throws StaleVersion if a version in `expected` is not the model's. */
  requireDraft(model: Model, expected: readonly number[]): void {
    if (model.state === 'registered') throw new ModelRegistered();
    requireVersion(model, expected);
  },

  /** Throws ModelRegistered, StaleVersion. */
  update(model: Model, expected: readonly number[], change: { spec: JsonObject; by: string; at: Date }): Model {
    Model.requireDraft(model, expected);
    const { spec, by: updatedBy, at: updatedAt } = change;
    return { ...model, version: model.version + 1, spec, updatedBy, updatedAt };
  },

  /** Throws ModelRegistered, StaleVersion. */
  register(model: Model, expected: readonly number[], at: Date): Model {
    Model.requireDraft(model, expected);
    return { ...model, state: 'registered', registeredAt: at };
  },

  versionOf: ({ id, version, spec, updatedBy, updatedAt }: Model): ModelVersion => ({
    modelId: id,
    version,
    spec,
    createdBy: updatedBy,
    createdAt: updatedAt,
  }),

  /** Throws InvalidRequest. */
  requireRegistered({ state }: Pick<Model, 'state'>): void {
    if (state === 'registered') return;
    throw new InvalidRequest([{ path: 'model_id', message: 'must be a registered model: register it first' }]);
  },
};

/**
 * Returns a UUID in lower case with hyphens. Accepts any letter case, braces, the prefix `urn:uuid:`, and text without
 * hyphens. Returns null if the text is not a UUID.
 */
export function canonicalUuid(text: string): string | null {
  const hex = text
    .trim()
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1');
  const grouped = /^([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/.exec(hex);
  return grouped ? grouped.slice(1).join('-') : null;
}
