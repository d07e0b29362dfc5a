import { injectable } from 'inversify';
import { InviteNotFound } from '../../domain/accounts/errors.js';
import { Invite } from '../../domain/accounts/invite.js';
import { Clock, SecretTokens } from '../shared/ports.js';
import { AccountRepository, InviteRepository } from './ports.js';

/** What the sign-up page shows to whoever has an invite's token. */
@injectable()
export class LookUpInvite {
  constructor(
    private readonly invites: InviteRepository,
    private readonly accounts: AccountRepository,
    private readonly tokens: SecretTokens,
    private readonly clock: Clock,
  ) {}

  /** Throws InviteNotFound, InviteRedeemed, InviteRevoked, InviteExpired. */
  async execute(input: { token: string }): Promise<{ invite: Invite; inviterName: string | null }> {
    const known = this.tokens.read(input.token);
    const invite = known?.kind === 'invite' ? await this.invites.byDigest(known.digest) : null;
    if (!invite) throw new InviteNotFound();
    Invite.requirePending(invite, this.clock.now());
    const inviter = await this.accounts.byId(invite.invitedBy);
    return { invite, inviterName: inviter?.name ?? null };
  }
}
