import { DomainError } from '../shared/errors.js';

/** The database is out of reach; the service stays up and recovers with it. */
export class StorageUnavailable extends DomainError {
  constructor(why = 'the database is out of reach') {
    super('unavailable', 'storage_unavailable', `Not now: ${why}. Try again shortly.`, { retryAfterSeconds: 2 });
  }
}
