import { port } from '../port.js';

export interface Pauses {
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
  take(milliseconds: number, signal: AbortSignal): Promise<void>;
}
export const Pauses = port<Pauses>('shared.Pauses');
