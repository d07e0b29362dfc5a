import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { Role } from '../../domain/access/role.js';
import { Account } from '../../domain/accounts/account.js';
import { Invite, inviteLifetime } from '../../domain/accounts/invite.js';
import type { Audit } from '../audit/audit.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { SecretTokens } from '../shared/ports/secret-tokens.js';
import type { Invites } from './ports/invites.js';

interface Input {
  readonly by: Caller | null;
  readonly email: string | null;
  readonly role: Role;
  readonly lifetimeSeconds?: number | undefined;
}

export class CreateInvite {
  constructor(
    private readonly invites: Invites,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: Identifiers,
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
