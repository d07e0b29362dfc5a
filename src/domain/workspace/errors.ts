import { DomainError } from '../shared/errors.js';

export class ModelRegistered extends DomainError {
  constructor() {
    super('conflict', 'model_registered', 'The model is registered and can no longer change: draft another one.');
  }
}

export class RequestIdConflict extends DomainError {
  constructor() {
    const message = 'This request_id already made a model with another spec: use a new request_id.';
    super('conflict', 'request_id_conflict', message);
  }
}
