import { call } from './api.js';
import { forgetFirstCall, prepareFirstCall, showFirstCall } from './first-call.js';
import { byId, onSubmit } from './forms.js';
import { session } from './session.js';

/** Prepares the forms of a signed-in account. Calls `signedOut` after a sign-out. */
export function prepareAccount(signedOut) {
  prepareFirstCall();
  onSubmit(
    byId('resend-form'),
    () => call('POST', 'v1/auth/verify-email/resend', { token: session.token }),
    (user) => {
      showUser(user);
      if (!user.email_verified) byId('notice').textContent = `Another e-mail is on its way to ${user.email}.`;
    },
  );
  onSubmit(
    byId('sign-out-form'),
    async () => {
      const answer = await call('POST', 'v1/auth/logout', { token: session.token });
      return answer.status === 401 ? { ok: true } : answer; // The session had ended already.
    },
    () => {
      forgetKey();
      signedOut();
    },
  );
  // A page that comes back from the browser's cache must not show the key again.
  addEventListener('pagehide', forgetKey);
}

/** Shows the account. `apiKey` is null if it was shown before. */
export function showAccount(user, apiKey) {
  showUser(user);
  byId('api-key').textContent = apiKey ?? '';
  byId('key-part').hidden = apiKey === null;
  byId('no-key').hidden = apiKey !== null;
  if (apiKey) showFirstCall(apiKey, user.role);
}

function showUser({ name, email, role, email_verified }) {
  byId('account-name').textContent = name;
  byId('account-email').textContent = email;
  byId('account-role').textContent = role;
  byId('account-verified').textContent = email_verified ? 'verified' : 'not verified yet';
  byId('resend-form').hidden = email_verified;
}

function forgetKey() {
  byId('api-key').textContent = '';
  byId('key-part').hidden = true;
  byId('no-key').hidden = false;
  forgetFirstCall();
}
