import { call } from './api.js';
import { byId } from './forms.js';

/**
 * Looks up who may sign up and adapts the form. Returns the first view, the text above it, and the token if its invite
 * is pending.
 */
export async function prepareInvite(token) {
  const [status, found] = await Promise.all([
    call('GET', 'v1/auth/status'),
    token ? call('GET', `v1/auth/invites/lookup/${encodeURIComponent(token)}`) : null,
  ]);
  const closed = status.ok ? closedBecause(status.body) : null;
  if (found?.ok) {
    fill(found.body);
    const full = isFull(status.body) ? ` ${closed}` : '';
    return { view: 'sign-up', notice: welcome(found.body) + full, inviteToken: token };
  }
  byId('tab-sign-up').hidden = closed !== null;
  const refused = found ? `${found.body.error} ` : '';
  const without = found && !closed ? 'You can sign in, or sign up without it.' : '';
  const first = !found && status.body.account_count === 0 && !closed;
  const view = first ? 'sign-up' : 'sign-in';
  const notice = first ? 'You are the first here: this account becomes the admin.' : refused + (closed ?? without);
  return { view, notice: status.ok ? notice : status.body.error, inviteToken: null };
}

const isFull = ({ account_count, max_accounts }) => account_count >= max_accounts;

/** Returns why not everybody may sign up, or null if everybody may. */
function closedBecause({ account_count, max_accounts, registration_open }) {
  if (registration_open) return null;
  if (account_count >= max_accounts) {
    return `Sign-up is closed: all ${max_accounts} accounts of this deployment are taken.`;
  }
  if (account_count === 0) return 'Sign-up is closed: the first account is registered with the master key.';
  return 'Sign-up is by invite only: ask an admin of your team for a link.';
}

const welcome = ({ invited_by_name, role }) =>
  `${invited_by_name ?? 'An admin'} invites you to join the team as ${role}.`;

function fill({ email }) {
  if (!email) return;
  const field = byId('sign-up-email');
  // A default value survives a reset of the form.
  field.defaultValue = email;
  field.readOnly = true;
  field.setAttribute('aria-describedby', 'locked-email');
  byId('locked-email').hidden = false;
}
