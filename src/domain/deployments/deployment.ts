import { type Finding, InvalidRequest } from '../shared/errors.js';
import type { DeploymentPrices } from '../spend/prices.js';

/** A model file. Each instance serves it with its own model server. */
export interface LocalModel {
  readonly kind: 'local';
  readonly name: string;
  /** The path as the caller sent it. */
  readonly modelPath: string;
  /** The maximum number of requests in one batch. Null without batching. */
  readonly maxBatch: number | null;
  /** The milliseconds that a request may wait for its batch. Null without batching. */
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
  /** The version of the model on the engine. Null: the engine chooses it. */
  readonly modelVersion: string | null;
  /** The name of the setting with the key of the engine. Null for an engine without a key. */
  readonly keySetting: string | null;
}

export type ServedModel = LocalModel | RemoteModel;

export const deploymentKinds = ['local', 'remote'] as const satisfies ServedModel['kind'][];

type Flat<Model> = { readonly [Field in Exclude<keyof Model, 'kind' | 'name'>]: Model[Field] | null };

/** The fields of local and remote models together. A local model has null in the fields of remote models. */
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
  /** The id of an account. Null: the master key. */
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** The port that served the model when the deployment was created. */
  readonly lastPort: number;
  /** The prices of predictions. Null: they have none. */
  readonly prices: DeploymentPrices | null;
}

export const deploymentStatuses = ['running', 'starting', 'unhealthy', 'stopped', 'crash_looping'] as const;

/**
 * `running`: the model has just proved that it is ready. `starting`: the model loads, or waits until it may load.
 * `unhealthy`: the model server or the engine runs, but the model gives no proof. `stopped`: this instance does not
 * serve the model. `crash_looping`: a start or several runs in a row failed, and the supervisor waits for the next.
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
  /** Returns a valid model with defaults. The model is remote if `endpoint` is not null. Throws InvalidRequest. */
  model(sent: ModelFields): ServedModel {
    const fields = { ...sent, name: sent.name.trim() };
    const findings = [
      lengthFinding('name', fields.name, deploymentLimits.nameLength),
      ...(fields.endpoint === null ? localFindings(fields) : remoteFindings(fields)),
    ].filter((finding): finding is Finding => Boolean(finding));
    if (findings.length > 0) throw new InvalidRequest(findings);
    const delay = fields.maxBatch === null ? null : (fields.maxDelayMs ?? DEFAULT_DELAY_MS);
    return Deployment.ofFields({ ...fields, maxDelayMs: delay, endpoint: fields.endpoint && baseOf(fields.endpoint) });
  },

  /** Returns all fields of a model. Fields that only the other kind of model has are null. */
  fields({ kind: _, ...fields }: ServedModel): ModelFields {
    return { ...noFields, ...fields };
  },

  /** Returns the model with these fields. Does not check them. */
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
    otherKindFinding('model_name', modelName, 'endpoint'),
    otherKindFinding('model_version', modelVersion, 'endpoint'),
    otherKindFinding('key_setting', keySetting, 'endpoint'),
  ];
}

function remoteFindings(fields: ModelFields): Findings {
  const { modelPath, endpoint, modelName, modelVersion, maxBatch, maxDelayMs } = fields;
  return [
    lengthFinding('endpoint', endpoint ?? '', deploymentLimits.endpointLength),
    modelPath !== null && { path: 'endpoint', message: 'must not come together with model_path' },
    // The text is checked, because `URL` drops the empty credentials of `http://@host`.
    /^\w*:[\\/]*[^\\/?#]*@/.test(endpoint ?? '') && { path: 'endpoint', message: NO_CREDENTIALS },
    segmentFinding('model_name', modelName ?? ''),
    modelVersion !== null && segmentFinding('model_version', modelVersion),
    otherKindFinding('max_batch', maxBatch, 'model_path'),
    otherKindFinding('max_delay_ms', maxDelayMs, 'model_path'),
  ];
}

const NO_CREDENTIALS = 'must not contain credentials: name a key_setting';

const otherKindFinding = (path: string, value: unknown, other: string): Finding | null =>
  value === null ? null : { path, message: `makes sense with ${other} only` };

/** Checks a name that becomes a part of a URL's path. */
function segmentFinding(path: string, text: string): Finding | null {
  const isDots = /^\.{1,2}$/.test(text);
  return isDots ? { path, message: 'must be a name' } : lengthFinding(path, text, deploymentLimits.modelNameLength);
}

/** Returns a URL without `?`, `#` or slashes at its end. Returns other text unchanged: it is refused later. */
const baseOf = (endpoint: string): string =>
  URL.canParse(endpoint) ? new URL(endpoint).href.replace(/[?#]+$/, '').replace(/\/+$/, '') : endpoint;

/** Returns the port of an HTTP URL. */
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
