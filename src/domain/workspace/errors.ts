import { DomainError, type Finding, refusal } from '../shared/errors.js';

export class ModelRegistered extends refusal(
  'conflict',
  'model_registered',
  'The model is registered and can no longer change: fork it into a draft.',
) {}

export class RequestIdConflict extends refusal(
  'conflict',
  'request_id_conflict',
  'This request_id already made another model: use a new request_id.',
) {}

export class DatasetFrozen extends refusal(
  'conflict',
  'dataset_frozen',
  'The dataset is frozen and can no longer change: fork it.',
) {}

export class DatasetInvalid extends DomainError {
  constructor(findings: readonly Finding[]) {
    const message = `The dataset cannot be frozen as it is: ${findings.length} finding(s), listed in details.`;
    super('invalid', 'dataset_invalid', message, { details: findings });
  }
}
