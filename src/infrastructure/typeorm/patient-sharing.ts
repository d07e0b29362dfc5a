import { injectable } from 'inversify';
import type { Sharing } from '../../application/shared/ports.js';
import { StorageUnavailable } from '../../domain/operations/errors.js';
import { carryingNothing } from '../system/carried.js';
import { Patience } from './patience.js';

const late = () => new StorageUnavailable();

/** Each waits for as long as it has patience. */
@injectable()
export class PatientSharing implements Sharing {
  forMany(work: () => void): void {
    carryingNothing(work);
  }

  forOne<T>(work: (resolve: (outcome: T) => void, reject: (error: unknown) => void) => void): Promise<T> {
    return Patience.within(work, late);
  }
}
