import { emailKey } from './account.js';
import type { Role } from './caller.js';
import { InviteEmailMismatch, InviteExpired, InviteRedeemed, InviteRevoked } from './errors.js';

/** Lets the holder of the token join a team. If the invite names an e-mail, the holder must register with it. */
export interface Invite {
  readonly id: string;
  readonly teamId: string;
  readonly token: string;
  readonly digest: string;
  readonly email: string | null;
  readonly role: Role;
  readonly invitedBy: string;
  readonly status: 'pending' | 'redeemed' | 'revoked';
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

const DAY_S = 24 * 60 * 60;

/** Lifetimes in seconds. */
export const inviteLifetime = { usual: 14 * DAY_S, longest: 365 * DAY_S } as const;

type Draft = Omit<Invite, 'status' | 'expiresAt'> & { readonly lifetimeSeconds: number };

export const Invite = {
  issue: ({ lifetimeSeconds, ...draft }: Draft): Invite => ({
    ...draft,
    status: 'pending',
    expiresAt: new Date(draft.createdAt.getTime() + lifetimeSeconds * 1000),
  }),

  /** Throws InviteRedeemed, InviteRevoked or InviteExpired. */
  requirePending(invite: Invite, now: Date): void {
    if (invite.status === 'redeemed') throw new InviteRedeemed();
    if (invite.status === 'revoked') throw new InviteRevoked();
    if (now >= invite.expiresAt) throw new InviteExpired();
  },

  /** Throws InviteEmailMismatch, InviteRedeemed, InviteRevoked or InviteExpired. */
  redeem(invite: Invite, email: string, now: Date): Invite {
    Invite.requirePending(invite, now);
    if (invite.email !== null && emailKey(invite.email) !== emailKey(email)) throw new InviteEmailMismatch();
    return { ...invite, status: 'redeemed' };
  },

  /** Throws InviteRedeemed, InviteRevoked or InviteExpired. */
  revoke(invite: Invite, now: Date): Invite {
    Invite.requirePending(invite, now);
    return { ...invite, status: 'revoked' };
  },
};
