import type { Deployment } from '../../../domain/deployments/deployment.js';
import { port } from '../../shared/port.js';

export interface Deployments {
  add(deployment: Deployment): Promise<void>;
  find(id: string): Promise<Deployment | null>;
  /** All there are, newest first. */
  all(): Promise<Deployment[]>;
  count(): Promise<number>;
  /** Notes where the process listens by now; of a deployment that is gone nothing is noted. */
  notePort(id: string, port: number): Promise<void>;
  /** Makes it `to`'s where it is `from`'s; of any number who try at once, one does. False where it is not, or is gone. */
  claim(id: string, from: number | null, to: number): Promise<boolean>;
  /** What is a process's is nobody's from now on. */
  release(process: number): Promise<void>;
  /** True when there was one. */
  remove(id: string): Promise<boolean>;
}
export const Deployments = port<Deployments>('deployments.Deployments');
