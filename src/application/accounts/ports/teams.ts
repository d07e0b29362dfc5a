import type { Team } from '../../../domain/accounts/account.js';
import { port } from '../../shared/port.js';

export interface Teams {
  add(team: Team): Promise<void>;
  byId(id: string): Promise<Team | null>;
  /** The team that runs the deployment; null before the first registration. */
  operator(): Promise<Team | null>;
  /** The team that stands for a team of the embedding site. */
  bySiteKey(siteKey: string): Promise<Team | null>;
}
export const Teams = port<Teams>('accounts.Teams');
