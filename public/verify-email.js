import { call } from './api.js';
import { byId, onSubmit, takeFromLink } from './forms.js';

// Waits for a click, because mail scanners open links and the token works once.
const token = takeFromLink('token');
byId('form').hidden = !token;
if (!token) byId('message').textContent = 'Open this page by the link of the e-mail, which contains the token.';
onSubmit(
  byId('form'),
  async () => {
    const { ok, status, body } = await call('POST', 'v1/auth/verify-email', { json: { token } });
    // A token that is unknown, used or expired stays so: another click cannot help.
    const final = ok || status === 404 || status === 410;
    return { ok: final, body: ok ? { said: `${body.email} is confirmed.` } : { ...body, said: body.error } };
  },
  ({ said }) => {
    byId('form').hidden = true;
    byId('message').textContent = said;
  },
);
