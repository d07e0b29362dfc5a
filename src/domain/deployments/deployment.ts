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
  /** The base URL of the engine. */
  readonly endpoint: string;
  /** The name of the model at the engine. */
  readonly modelName: string;
  /** Is null for the version that the engine chooses. */
  readonly modelVersion: string | null;
}

export type ServedModel = LocalModel | RemoteModel;

export interface Deployment extends LocalModel {
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
  maxBatch: { min: 2, max: 1_024 },
  maxDelayMs: { min: 0, max: 1_000 },
} as const;

const DEFAULT_DELAY_MS = 5;

export const Deployment = {
  /** Returns the settings with defaults filled in. Throws InvalidRequest. */
  model({ name, modelPath, maxBatch, maxDelayMs }: Omit<LocalModel, 'kind'>): LocalModel {
    const trimmed = name.trim();
    const findings = [
      lengthFinding('name', trimmed, deploymentLimits.nameLength),
      lengthFinding('model_path', modelPath, deploymentLimits.modelPathLength),
      maxBatch !== null && rangeFinding('max_batch', maxBatch, deploymentLimits.maxBatch),
      maxDelayMs !== null && rangeFinding('max_delay_ms', maxDelayMs, deploymentLimits.maxDelayMs),
      maxBatch === null && maxDelayMs !== null && { path: 'max_delay_ms', message: 'makes sense with max_batch only' },
    ].filter((finding): finding is Finding => Boolean(finding));
    if (findings.length > 0) throw new InvalidRequest(findings);
    return {
      kind: 'local',
      name: trimmed,
      modelPath,
      maxBatch,
      maxDelayMs: maxBatch === null ? null : (maxDelayMs ?? DEFAULT_DELAY_MS),
    };
  },
};

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
