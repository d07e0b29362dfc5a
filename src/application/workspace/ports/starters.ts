import type { Starter } from '../../../domain/workspace/starter.js';
import { port } from '../../shared/port.js';

/** The catalog of starters. It stays the same as long as the service runs: nobody can change what it has answered. */
export interface Starters {
  /** All of them, by id. */
  all(): Promise<readonly Starter[]>;
  /** Null for an unknown id. */
  find(id: string): Promise<Starter | null>;
}
export const Starters = port<Starters>('workspace.Starters');
