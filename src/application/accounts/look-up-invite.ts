import { InviteNotFound } from '../../domain/accounts/errors.js';
import { Invite } from '../../domain/accounts/invite.js';
import type { Clock } from '../shared/ports/clock.js';
import type { SecretTokens } from '../shared/ports/secret-tokens.js';
import type { Accounts } from './ports/accounts.js';
import type { Invites } from './ports/invites.js';

/** What the sign-up page shows to whoever has an invite's token. */
export class LookUpInvite {
  constructor(
    private readonly invites: Invites,
    private readonly accounts: Accounts,
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
