import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Invite } from '../../domain/accounts/invite.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Clock } from '../shared/ports.js';
import { InviteRepository } from './ports.js';

/** An invite as its reader may see it: only admins see the token again, while the service's secret is the same. */
export type VisibleInvite = Omit<Invite, 'token'> & { readonly token: string | null };

@injectable()
export class ListInvites {
  constructor(
    private readonly invites: InviteRepository,
    private readonly clock: Clock,
  ) {}

  async execute(input: { by: Caller | null }): Promise<VisibleInvite[]> {
    const { teamId, role } = authorize(input.by, permissions.readTeam);
    const pending = await this.invites.pending(teamId, this.clock.now());
    const visible = (token: string) => (role === 'admin' && token !== '' ? token : null);
    return pending.map((invite) => ({ ...invite, token: visible(invite.token) }));
  }
}
