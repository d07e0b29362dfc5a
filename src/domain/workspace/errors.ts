import { DomainError, type Finding } from '../shared/errors.js';

export class ModelRegistered extends DomainError {
  constructor() {
    super('conflict', 'model_registered', 'The model is registered and can no longer change: fork it into a draft.');
  }
}

export class RequestIdConflict extends DomainError {
  constructor() {
    const message = 'This request_id already made another model: use a new request_id.';
    super('conflict', 'request_id_conflict', message);
  }
}

export class DatasetFrozen extends DomainError {
  constructor() {
    super('conflict', 'dataset_frozen', 'The dataset is frozen and can no longer change: fork it.');
  }
}

export class DatasetInvalid extends DomainError {
  constructor(findings: readonly Finding[]) {
    const message = `The dataset cannot be frozen as it is: ${findings.length} finding(s), listed in details.`;
    super('invalid', 'dataset_invalid', message, { details: findings });
  }
}
