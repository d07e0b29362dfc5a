import { port } from '../port.js';

/** How callers share work, so that what one of them brings along is no other's. */
export interface Sharing {
  /** Begins work for many: it carries nothing of whoever happens to begin it, no request and no limit to what it waits. */
  forMany(work: () => void): void;
  /**
   * What the work of many comes to for this caller, as `work` tells; throws StorageUnavailable where that is later than
   * the caller may wait for storage. The work goes on then.
   */
  forOne<T>(work: (resolve: (outcome: T) => void, reject: (error: unknown) => void) => void): Promise<T>;
}
export const Sharing = port<Sharing>('shared.Sharing');
