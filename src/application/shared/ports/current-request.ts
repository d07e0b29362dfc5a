import { port } from '../port.js';

/** The request on whose behalf code runs. */
export interface CurrentRequest {
  /** Null where it runs on nobody's. */
  readonly id: string | null;
  /** Runs `work`; all that it does, also after an await, is on behalf of the request. */
  within<T>(id: string, work: () => T): T;
}
export const CurrentRequest = port<CurrentRequest>('shared.CurrentRequest');
