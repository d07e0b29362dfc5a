import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { InviteNotFound } from '../../domain/accounts/errors.js';
import { Invite } from '../../domain/accounts/invite.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Audit } from '../audit/audit.js';
import { Clock, UnitOfWork } from '../shared/ports.js';
import { InviteRepository } from './ports.js';

@injectable()
export class RevokeInvite {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly invites: InviteRepository,
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
