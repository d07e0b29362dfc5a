import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Invite } from '../../domain/accounts/invite.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Invites } from './ports/invites.js';

/** An invite as its reader may see it: only admins see the token again, while the service's secret is the same. */
export type VisibleInvite = Omit<Invite, 'token'> & { readonly token: string | null };

export class ListInvites {
  constructor(
    private readonly invites: Invites,
    private readonly clock: Clock,
  ) {}

  async execute(input: { by: Caller | null }): Promise<VisibleInvite[]> {
    const { teamId, role } = authorize(input.by, permissions.readTeam);
    const pending = await this.invites.pending(teamId, this.clock.now());
    const visible = (token: string) => (role === 'admin' && token !== '' ? token : null);
    return pending.map((invite) => ({ ...invite, token: visible(invite.token) }));
  }
}
