import { DomainError } from '../shared/errors.js';

/** The team's place in the queue is full; it empties as evaluations begin or are cancelled. */
export class TooManyEvaluations extends DomainError {
  constructor(most: number) {
    const message = `${most} evaluations of your team are queued already, the most there may be: try again when one has begun, or cancel one.`;
    super('busy', 'model_busy', message, { retryAfterSeconds: 60 });
  }
}

export class JobFinished extends DomainError {
  constructor(status: string) {
    super('conflict', 'job_finished', `The job has finished (${status}): it can't be changed any more.`);
  }
}
