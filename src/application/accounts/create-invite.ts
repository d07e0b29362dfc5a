import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import type { Caller } from '../../domain/accounts/caller.js';
import { Invite, inviteLifetime } from '../../domain/accounts/invite.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { Role } from '../../domain/accounts/role.js';
import { Audit } from '../audit/audit.js';
import { Clock, IdGenerator, SecretTokens } from '../shared/ports.js';
import { InviteRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly email: string | null;
  readonly role: Role;
  readonly lifetimeSeconds?: number | undefined;
}

@injectable()
export class CreateInvite {
  constructor(
    private readonly invites: InviteRepository,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest. */
  async execute({ by, email, role, lifetimeSeconds = inviteLifetime.usual }: Input): Promise<Invite> {
    const caller = authorize(by, permissions.manageTeam);
    const { token, digest } = this.tokens.issue('invite');
    const invite = Invite.issue({
      id: this.ids.next('inv'),
      teamId: caller.teamId,
      token,
      digest,
      email: email === null ? null : Account.profile({ email }).email,
      role,
      invitedBy: caller.accountId,
      createdAt: this.clock.now(),
      lifetimeSeconds,
    });
    const object = { id: invite.id, name: invite.email };
    await this.audit.perform({ by: caller, action: 'invite.created', object, details: { role } }, () =>
      this.invites.add(invite),
    );
    return invite;
  }
}
