import { port } from '../port.js';

export interface Clock {
  /** The time of day. Every call gives a fresh value. */
  now(): Date;
}
export const Clock = port<Clock>('shared.Clock');
