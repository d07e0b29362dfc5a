import { call } from './api.js';
import { byId, onSubmit, takeFromLink } from './forms.js';

// Waits for a click, because mail scanners open links and the token works once.
const token = takeFromLink('token');
byId('form').hidden = !token;
if (!token) byId('message').textContent = 'Open this page by the link of the e-mail: it brings the token along.';
onSubmit(
  byId('form'),
  () => call('POST', 'v1/auth/verify-email', { json: { token } }),
  ({ email }) => {
    byId('form').hidden = true;
    byId('message').textContent = `${email} is confirmed.`;
  },
);
