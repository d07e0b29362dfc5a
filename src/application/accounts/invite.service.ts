import { injectable } from 'inversify';
import { Account } from '../../domain/accounts/account.js';
import type { Caller, Role } from '../../domain/accounts/caller.js';
import { InviteNotFound } from '../../domain/accounts/errors.js';
import { Invite, inviteLifetime } from '../../domain/accounts/invite.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { LimitReached } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.service.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { Authority, MEMBERSHIP } from './authority.js';
import { AccountRepository, InviteRepository, SecretTokens } from './ports.js';

interface NewInvite {
  /** The only address that may redeem the invite. Null: every address may redeem it. */
  readonly email: string | null;
  readonly role: Role;
  readonly lifetimeSeconds?: number | undefined;
}

/** Limits the pending invites of a team, because one answer lists all of them. */
const MOST_PENDING = 1_000;

/** An invite as the team sees it. The token is null if the caller is no admin or another service secret sealed it. */
export type VisibleInvite = Omit<Invite, 'token'> & { readonly token: string | null };

@injectable()
export class InviteService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly invites: InviteRepository,
    private readonly accounts: AccountRepository,
    private readonly authority: Authority,
    private readonly audit: Audit,
    private readonly tokens: SecretTokens,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Creates an invite to the caller's team. Throws InvalidRequest, LimitReached. */
  create(by: Caller | null, input: NewInvite): Promise<Invite> {
    const { email, role, lifetimeSeconds = inviteLifetime.usual } = input;
    return this.unitOfWork.locked(MEMBERSHIP, async () => {
      const actor = await this.authority.confirm(by, permissions.manageTeam);
      const pending = await this.invites.countPending(actor.teamId, this.clock.now());
      if (pending >= MOST_PENDING) throw new LimitReached(MOST_PENDING, 'pending invites');
      const { token, digest } = this.tokens.issue('invite');
      const invite = Invite.issue({
        id: this.ids.next('inv'),
        teamId: actor.teamId,
        token,
        digest,
        email: email === null ? null : Account.profile({ email }).email,
        role,
        invitedBy: actor.accountId,
        createdAt: this.clock.now(),
        lifetimeSeconds,
      });
      await this.invites.add(invite);
      const object = { id: invite.id, name: invite.email };
      await this.audit.record({ by: actor, action: 'invite.created', object, details: { role } });
      return invite;
    });
  }

  /** Lists the team's pending invites, newest first. */
  async list(by: Caller | null): Promise<VisibleInvite[]> {
    const { teamId, role } = authorize(by, permissions.readTeam);
    const pending = await this.invites.pending(teamId, this.clock.now());
    const visible = (token: string) => (role === 'admin' && token !== '' ? token : null);
    return pending.map((invite) => ({ ...invite, token: visible(invite.token) }));
  }

  /** Throws InviteNotFound, InviteRedeemed, InviteRevoked, InviteExpired. */
  async revoke(by: Caller | null, { id }: { id: string }): Promise<void> {
    await this.unitOfWork.locked(MEMBERSHIP, async () => {
      const actor = await this.authority.confirm(by, permissions.manageTeam);
      const invite = await this.invites.find(actor.teamId, id);
      if (!invite) throw new InviteNotFound();
      await this.invites.save(Invite.revoke(invite, this.clock.now()));
      const object = { id: invite.id, name: invite.email };
      await this.audit.record({ by: actor, action: 'invite.revoked', object });
    });
  }

  /**
   * Returns a pending invite to the holder of its token, for the sign-up page.
   * Throws InviteNotFound, InviteRedeemed, InviteRevoked, InviteExpired.
   */
  async lookUp({ token }: { token: string }): Promise<{ invite: Invite; inviterName: string | null }> {
    const known = this.tokens.read(token);
    const invite = known?.kind === 'invite' ? await this.invites.byDigest(known.digest) : null;
    if (!invite) throw new InviteNotFound();
    Invite.requirePending(invite, this.clock.now());
    const inviter = await this.accounts.byId(invite.invitedBy);
    return { invite, inviterName: inviter?.name ?? null };
  }
}
