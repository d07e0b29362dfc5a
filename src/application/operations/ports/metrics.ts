import { port } from '../../shared/port.js';

/** What the service tells of itself in numbers, to a monitoring system that asks now and then. */
export interface Metrics {
  /**
   * All of it, as it is now, in the text format of Prometheus. Resolves within two seconds whatever is out of reach:
   * what cannot be found out is left out.
   */
  read(): Promise<string>;
}
export const Metrics = port<Metrics>('operations.Metrics');
