import { DomainError } from '../shared/errors.js';

/** The team has too many queued evaluations. A new one is possible after an evaluation begins or is cancelled. */
export class TooManyEvaluations extends DomainError {
  constructor(most: number) {
    const message = `${most} evaluations of your team are queued already, the most there may be: wait until one begins, or cancel one.`;
    super('busy', 'model_busy', message, { retryAfterSeconds: 60 });
  }
}

export class JobFinished extends DomainError {
  constructor(status: string) {
    super('conflict', 'job_finished', `The job has finished (${status}): it can't be changed any more.`);
  }
}
