import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { InviteNotFound } from '../../domain/accounts/errors.js';
import { Invite } from '../../domain/accounts/invite.js';
import type { Audit } from '../audit/audit.js';
import type { Clock } from '../shared/ports/clock.js';
import type { UnitOfWork } from '../shared/ports/unit-of-work.js';
import type { Invites } from './ports/invites.js';

export class RevokeInvite {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly invites: Invites,
    private readonly audit: Audit,
    private readonly clock: Clock,
  ) {}

  /** Throws InviteNotFound, InviteRedeemed, InviteRevoked, InviteExpired. */
  execute(input: { by: Caller | null; inviteId: string }): Promise<void> {
    const caller = authorize(input.by, permissions.manageTeam);
    return this.unitOfWork.run(async () => {
      const invite = await this.invites.find(caller.teamId, input.inviteId);
      if (!invite) throw new InviteNotFound();
      await this.invites.save(Invite.revoke(invite, this.clock.now()));
      const object = { id: invite.id, name: invite.email };
      await this.audit.record({ by: caller, action: 'invite.revoked', object });
    });
  }
}
