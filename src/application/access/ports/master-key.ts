import { port } from '../../shared/port.js';

/** The deployment's master key, if it has one. */
export interface MasterKey {
  /** True for the key itself, in a time that tells nothing of how much of it was right; false when none is set. */
  matches(credential: string): boolean;
}
export const MasterKey = port<MasterKey>('access.MasterKey');
