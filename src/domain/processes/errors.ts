import { DomainError } from '../shared/errors.js';

/** How another process of the service refused what it was asked. */
export class RefusedElsewhere extends DomainError {
  constructor({ kind, code, message, advice }: Pick<DomainError, 'kind' | 'code' | 'message' | 'advice'>) {
    super(kind, code, message, advice);
  }
}

/** What is asked for runs in another process of the service, which would have to be asked instead. */
export class RunsElsewhere extends DomainError {
  constructor(
    /** The number of that process. */
    readonly process: number,
    name: string,
  ) {
    const message = `It runs in the process ${name} of the service, which cannot be reached from here just now.`;
    super('unavailable', 'runtime_unavailable', message, { retryAfterSeconds: 2 });
  }
}
