import { type Finding, InvalidRequest } from '../shared/errors.js';

/** A model file that is served by a process of its own. */
export interface Deployment {
  readonly id: string;
  readonly name: string;
  /** As its maker named it. */
  readonly modelPath: string;
  /** At most so many requests are answered together; null: each alone. */
  readonly maxBatch: number | null;
  /** How long a request may wait for others; null without batching. */
  readonly maxDelayMs: number | null;
  /** Null: by the master key. */
  readonly createdBy: string | null;
  readonly createdAt: Date;
  /** Where its process was last seen to listen. */
  readonly lastPort: number;
  /** The number of the process of the service that runs it; null: none does just now. */
  readonly process: number | null;
}

export const deploymentStatuses = ['running', 'starting', 'unhealthy', 'stopped', 'crash_looping'] as const;

/**
 * `running`: it proved a moment ago that it is the process started for this deployment. `starting`: it loads, or waits
 * for its turn to. `unhealthy`: the process is there and proves nothing. `stopped`: there is none. `crash_looping`:
 * there is none until the next attempt, after several that failed.
 */
export type DeploymentStatus = (typeof deploymentStatuses)[number];

/** What a process is told when it starts. */
export type ServedModel = Pick<Deployment, 'name' | 'modelPath' | 'maxBatch' | 'maxDelayMs'>;

/** Lengths are Unicode code points. */
export const deploymentLimits = {
  deployments: 100,
  nameLength: 100,
  modelPathLength: 1_024,
  maxBatch: { min: 2, max: 1_024 },
  maxDelayMs: { min: 0, max: 1_000 },
} as const;

const DEFAULT_DELAY_MS = 5;

export const Deployment = {
  /** The model as it will be served, of what was asked for. Throws InvalidRequest. */
  model({ name, modelPath, maxBatch, maxDelayMs }: ServedModel): ServedModel {
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
      name: trimmed,
      modelPath,
      maxBatch,
      maxDelayMs: maxBatch === null ? null : (maxDelayMs ?? DEFAULT_DELAY_MS),
    };
  },
};

function lengthFinding(path: string, text: string, most: number): Finding | null {
  const length = [...text].length;
  return length >= 1 && length <= most ? null : { path, message: `must have 1 to ${most} characters` };
}

function rangeFinding(path: string, value: number, { min, max }: { min: number; max: number }): Finding | null {
  const fits = Number.isInteger(value) && value >= min && value <= max;
  return fits ? null : { path, message: `must be a whole number from ${min} to ${max}` };
}
