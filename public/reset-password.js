import { call } from './api.js';
import { byId, onSubmit, takeFromLink } from './forms.js';

const token = takeFromLink('token');
byId('form').hidden = !token;
if (!token) byId('message').textContent = 'Open this page by the link of the e-mail, which contains the token.';
onSubmit(
  byId('form'),
  async ({ password, again, revoke_keys }) => {
    if (password.value !== again.value) {
      return { ok: false, body: { details: [{ path: 'again', message: 'must be the same as the new password' }] } };
    }
    return call('POST', 'v1/auth/password/reset', {
      json: { token, password: password.value, revoke_keys: revoke_keys.checked },
    });
  },
  ({ email }) => {
    byId('form').reset();
    byId('form').hidden = true;
    byId('message').textContent = `The new password of ${email} is set.`;
    byId('onwards').textContent = 'Sign in';
    byId('onwards').href = 'auth';
    byId('onwards').focus();
  },
);
