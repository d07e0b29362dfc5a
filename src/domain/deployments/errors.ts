import { DomainError, refusal } from '../shared/errors.js';

export class ModelFileInvalid extends DomainError {
  constructor(reason: string) {
    super('invalid', 'model_file_invalid', `The model file cannot be served: ${reason}`);
  }
}

export class EndpointInvalid extends DomainError {
  constructor(reason: string) {
    super('invalid', 'endpoint_invalid', `The endpoint does not serve the model: ${reason}`);
  }
}

export class DeploymentStopped extends refusal(
  'unavailable',
  'runtime_stopped',
  'The deployment is stopped: this instance does not run it.',
  { retryable: false },
) {}

export class DeploymentStarting extends refusal(
  'unavailable',
  'runtime_loading',
  'The deployment is starting: try again shortly.',
  { retryAfterSeconds: 1 },
) {}

export class DeploymentUnavailable extends DomainError {
  constructor(reason: string) {
    super('unavailable', 'runtime_unavailable', `The deployment is unavailable: ${reason}`);
  }
}

/** Refuses an upload that is too large. If the request states its length, refuses it before the bytes arrive. */
export class ModelFileTooLarge extends DomainError {
  constructor(mostBytes: number) {
    const message = `A model file may have at most ${mostBytes} bytes (SERVICE_MODEL_UPLOAD_MB).`;
    super('too_large', 'payload_too_large', message, { retryable: false });
  }
}

export class UploadsBusy extends DomainError {
  constructor(most: number) {
    const message = `${most} model files are being uploaded, the most at once: try again in 5 s.`;
    super('unavailable', 'busy', message, { retryAfterSeconds: 5 });
  }
}
