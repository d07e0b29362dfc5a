import { ApiError, answer, api, type Schemas } from '../shared/api.js';

/** The people who may sign up, and the words of the sign-in page about it. */
export interface Admission {
  readonly view: 'sign-in' | 'sign-up';
  readonly notice: string;
  readonly maySignUp: boolean;
  /** The token of a pending invite. */
  readonly inviteToken: string | null;
  /** The address that the invite is for. Null: the person chooses one. */
  readonly email: string | null;
}

/** Looks up whether people may sign up, and the invite of the link. Throws ApiError if the service fails. */
export async function readAdmission(inviteToken: string | null): Promise<Admission> {
  const [status, invite] = await Promise.all([answer(api.GET('/v1/auth/status')), inviteToken && lookUp(inviteToken)]);
  const closed = closedBecause(status);
  if (invite && !(invite instanceof ApiError)) {
    const { invited_by_name, role, email } = invite;
    const welcome = `${invited_by_name ?? 'An admin'} invites you to join the team as ${role}.`;
    const notice = isFull(status) ? `${welcome} ${closed}` : welcome;
    return { view: 'sign-up', notice, maySignUp: true, inviteToken, email };
  }
  const none = { maySignUp: closed === null, inviteToken: null, email: null };
  if (invite) {
    const without = closed ?? 'You can sign in, or sign up without it.';
    return { ...none, view: 'sign-in', notice: `${invite.message} ${without}` };
  }
  const isFirst = status.account_count === 0 && !closed;
  if (isFirst) {
    return { ...none, view: 'sign-up', notice: 'You are the first here: this account becomes the admin.' };
  }
  return { ...none, view: 'sign-in', notice: closed ?? '' };
}

/** Returns a pending invite, or the reason why it cannot be used. */
async function lookUp(token: string): Promise<Schemas['InviteLookup'] | ApiError> {
  try {
    return await answer(api.GET('/v1/auth/invites/lookup/{token}', { params: { path: { token } } }));
  } catch (reason) {
    if (reason instanceof ApiError && [404, 410].includes(reason.status)) return reason;
    throw reason;
  }
}

type AuthStatus = Schemas['AuthStatus'];

const isFull = ({ account_count, max_accounts }: AuthStatus) => account_count >= max_accounts;

/** Returns why not everybody may sign up, or null if everybody may. */
function closedBecause(status: AuthStatus): string | null {
  if (status.registration_open) return null;
  if (isFull(status)) return `Sign-up is closed: all ${status.max_accounts} accounts of this deployment are taken.`;
  if (status.account_count === 0) return 'Sign-up is closed: the first account is registered with the master key.';
  return 'Sign-up is by invite only: ask an admin of your team for a link.';
}
