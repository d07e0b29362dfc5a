import type { Invite } from '../../../domain/accounts/invite.js';
import { port } from '../../shared/port.js';

/**
 * Keeps invites such that a copy of the database alone gives no usable token. Where the service's secret has been lost,
 * an invite is given back with an empty token; whoever has the token can still redeem it.
 */
export interface Invites {
  add(invite: Invite): Promise<void>;
  /** Writes what has changed of a known invite. */
  save(invite: Invite): Promise<void>;
  /** Revokes every pending invite that the account has made. */
  revokeAllBy(accountId: string): Promise<void>;
  /** Null for an unknown id, and for an invite of another team. */
  find(teamId: string, id: string): Promise<Invite | null>;
  byDigest(digest: string): Promise<Invite | null>;
  /** Those of a team that are pending and not expired at `now`, newest first. */
  pending(teamId: string, now: Date): Promise<Invite[]>;
}
export const Invites = port<Invites>('accounts.Invites');
