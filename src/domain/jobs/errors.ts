import { DomainError } from '../shared/errors.js';

export class JobFinished extends DomainError {
  constructor(status: string) {
    super('conflict', 'job_finished', `The job has finished (${status}): it can't be changed any more.`);
  }
}
