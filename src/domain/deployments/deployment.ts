import { type Finding, InvalidRequest } from '../shared/errors.js';

/** A model file that each instance serves by a process of its own. */
export interface LocalModel {
  readonly kind: 'local';
  readonly name: string;
  /** The path as it was sent. */
  readonly modelPath: string;
  /** The most requests in one batch; null answers each alone. */
  readonly maxBatch: number | null;
  /** The milliseconds that a request may wait for its batch; null without batching. */
  readonly maxDelayMs: number | null;
}

/** A model on an engine that runs elsewhere and speaks the Open Inference Protocol. */
export interface RemoteModel {
  readonly kind: 'remote';
  readonly name: string;
  /** The base URL of the engine, without a slash at its end. */
  readonly endpoint: string;
  /** The name of the model at the engine. */
  readonly modelName: string;
  /** Is null for the version that the engine chooses. */
  readonly modelVersion: string | null;
  /** The name of the setting that holds the key of the engine; null without one. */
  readonly keySetting: string | null;
}

export type ServedModel = LocalModel | RemoteModel;

export const deploymentKinds = ['local', 'remote'] as const satisfies ServedModel['kind'][];

type Flat<Model> = { readonly [Field in Exclude<keyof Model, 'kind' | 'name'>]: Model[Field] | null };

/** The fields of both kinds of models. Those of the other kind are null. */
export type ModelFields = Pick<ServedModel, 'name'> & Flat<LocalModel> & Flat<RemoteModel>;

const noFields: Omit<ModelFields, 'name'> = {
  modelPath: null,
  maxBatch: null,
  maxDelayMs: null,
  endpoint: null,
  modelName: null,
  modelVersion: null,
  keySetting: null,
};

export type Deployment = ServedModel & StoredDeployment;

interface StoredDeployment {
  readonly id: string;
  /** Is null for the master key. */
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** The port that served the model when the deployment was created. */
  readonly lastPort: number;
}

export const deploymentStatuses = ['running', 'starting', 'unhealthy', 'stopped', 'crash_looping'] as const;

/**
 * `running`: the model has just proved that it is ready. `starting`: it loads or waits for its turn. `unhealthy`: it is
 * there and gives no proof. `stopped`: this instance does not serve it. `crash_looping`: several starts failed and the next one waits.
 */
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/** Lengths count Unicode code points. */
export const deploymentLimits = {
  deployments: 100,
  nameLength: 100,
  modelPathLength: 1_024,
  endpointLength: 2_000,
  modelNameLength: 200,
  maxBatch: { min: 2, max: 1_024 },
  maxDelayMs: { min: 0, max: 1_000 },
} as const;

const DEFAULT_DELAY_MS = 5;

export const Deployment = {
  /** Returns a model with defaults filled in: a remote one if it names an endpoint. Throws InvalidRequest. */
  model(given: ModelFields): ServedModel {
    const fields = { ...given, name: given.name.trim() };
    const findings = [
      lengthFinding('name', fields.name, deploymentLimits.nameLength),
      ...(fields.endpoint === null ? localFindings(fields) : remoteFindings(fields)),
    ].filter((finding): finding is Finding => Boolean(finding));
    if (findings.length > 0) throw new InvalidRequest(findings);
    const delay = fields.maxBatch === null ? null : (fields.maxDelayMs ?? DEFAULT_DELAY_MS);
    return Deployment.ofFields({ ...fields, maxDelayMs: delay, endpoint: fields.endpoint && baseOf(fields.endpoint) });
  },

  /** Returns the fields of a model, with null for those of the other kind. */
  fields({ kind: _, ...fields }: ServedModel): ModelFields {
    return { ...noFields, ...fields };
  },

  /** Returns the model that has these fields, which are valid. */
  ofFields({ modelPath, maxBatch, maxDelayMs, endpoint, modelName, modelVersion, keySetting, name }: ModelFields) {
    const local = { kind: 'local', name, modelPath: String(modelPath), maxBatch, maxDelayMs } as const;
    const remote = { kind: 'remote', name, modelName: String(modelName), modelVersion, keySetting } as const;
    return endpoint === null ? local : { ...remote, endpoint };
  },
};

type Findings = (Finding | null | false)[];

function localFindings(fields: ModelFields): Findings {
  const { modelPath, maxBatch, maxDelayMs, modelName, modelVersion, keySetting } = fields;
  if (modelPath === null) return [{ path: 'model_path', message: 'is required, or an endpoint' }];
  return [
    lengthFinding('model_path', modelPath, deploymentLimits.modelPathLength),
    maxBatch !== null && rangeFinding('max_batch', maxBatch, deploymentLimits.maxBatch),
    maxDelayMs !== null && rangeFinding('max_delay_ms', maxDelayMs, deploymentLimits.maxDelayMs),
    maxBatch === null && maxDelayMs !== null && { path: 'max_delay_ms', message: 'makes sense with max_batch only' },
    strangeFinding('model_name', modelName, 'endpoint'),
    strangeFinding('model_version', modelVersion, 'endpoint'),
    strangeFinding('key_setting', keySetting, 'endpoint'),
  ];
}

function remoteFindings(fields: ModelFields): Findings {
  const { modelPath, endpoint, modelName, modelVersion, maxBatch, maxDelayMs } = fields;
  return [
    lengthFinding('endpoint', endpoint ?? '', deploymentLimits.endpointLength),
    modelPath !== null && { path: 'endpoint', message: 'must not come together with model_path' },
    // `URL` drops the empty credentials of `http://@host`.
    /^\w*:[\\/]*[^\\/?#]*@/.test(endpoint ?? '') && { path: 'endpoint', message: NO_CREDENTIALS },
    segmentFinding('model_name', modelName ?? ''),
    modelVersion !== null && segmentFinding('model_version', modelVersion),
    strangeFinding('max_batch', maxBatch, 'model_path'),
    strangeFinding('max_delay_ms', maxDelayMs, 'model_path'),
  ];
}

const NO_CREDENTIALS = 'must not contain credentials: name a key_setting';

const strangeFinding = (path: string, value: unknown, other: string): Finding | null =>
  value === null ? null : { path, message: `makes sense with ${other} only` };

/** Checks a name that becomes a part of a path. */
function segmentFinding(path: string, text: string): Finding | null {
  const isDots = /^\.{1,2}$/.test(text);
  return isDots ? { path, message: 'must be a name' } : lengthFinding(path, text, deploymentLimits.modelNameLength);
}

/** Returns an address as a base of paths. A text that is no address stays: it is refused later. */
const baseOf = (endpoint: string): string =>
  URL.canParse(endpoint) ? new URL(endpoint).href.replace(/[?#]+$/, '').replace(/\/+$/, '') : endpoint;

/** Returns the port of an HTTP address. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

function lengthFinding(path: string, text: string, most: number): Finding | null {
  const length = [...text].length;
  return length >= 1 && length <= most ? null : { path, message: `must have 1 to ${most} characters` };
}

function rangeFinding(path: string, value: number, { min, max }: { min: number; max: number }): Finding | null {
  const fits = Number.isInteger(value) && value >= min && value <= max;
  return fits ? null : { path, message: `must be a whole number from ${min} to ${max}` };
}
