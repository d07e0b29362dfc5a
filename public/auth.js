import { prepareAccount, showAccount } from './account.js';
import { call } from './api.js';
import { enableCopying } from './copying.js';
import { byId, clearMessages, onSubmit, takeFromLink } from './forms.js';
import { prepareInvite } from './invite.js';
import { session } from './session.js';
import { prepareTabs, selectTab } from './tabs.js';

const titles = {
  'sign-in': 'Sign in',
  'sign-up': 'Sign up',
  forgot: 'Forgot your password?',
  account: 'You are signed in',
};

function show(view) {
  const entering = view === 'sign-in' || view === 'sign-up';
  for (const one of Object.keys(titles)) byId(one).hidden = one !== view;
  byId('tabs').hidden = !entering || byId('tab-sign-up').hidden;
  if (entering) selectTab(view);
  byId('title').textContent = titles[view];
  document.title = `Tenon: ${titles[view].toLowerCase()}`;
}

/** Shows a view. Focuses its title, so that screen readers announce it. */
function goTo(view) {
  clearMessages();
  show(view);
  byId('title').focus();
}

function notice(text) {
  byId('notice').textContent = text;
}

/** Returns the path in the console to go back to, such as `/projects`, or null if the console did not lead here. */
function takeNext() {
  const next = new URLSearchParams(location.hash.slice(1)).get('next');
  return next?.startsWith('/') ? next : null;
}

/** Goes back to the console, which shows the new key if there is one. */
function backToConsole(next, apiKey = null) {
  if (apiKey) session.leaveNewKey(apiKey);
  location.replace(`./#${next}`);
}

function signedIn({ user, token, api_key }) {
  session.keep(token);
  const next = takeNext();
  if (next) return backToConsole(next, api_key);
  for (const form of document.querySelectorAll('form')) form.reset();
  showAccount(user, api_key);
  goTo('account');
}

function signedOut() {
  session.forget();
  goTo('sign-in');
  notice('You are signed out.');
}

function prepareForms(inviteToken) {
  onSubmit(
    byId('sign-in-form'),
    ({ email, password }) => call('POST', 'v1/auth/login', { json: { email: email.value, password: password.value } }),
    signedIn,
  );
  onSubmit(
    byId('sign-up-form'),
    ({ name, email, password }) => {
      const json = { name: name.value, email: email.value, password: password.value, invite_token: inviteToken };
      return call('POST', 'v1/auth/register', { json });
    },
    signedIn,
  );
  onSubmit(
    byId('forgot-form'),
    ({ email }) => call('POST', 'v1/auth/password/forgot', { json: { email: email.value } }),
    () => {
      goTo('sign-in');
      notice('If there is an account with this address, an e-mail is on its way to it.');
    },
  );
  byId('to-forgot').addEventListener('click', () => {
    byId('forgot-email').value = byId('sign-in-email').value;
    goTo('forgot');
  });
  byId('to-sign-in').addEventListener('click', () => goTo('sign-in'));
}

async function start() {
  const inviteToken = takeFromLink('invite');
  enableCopying();
  prepareTabs(show);
  prepareAccount(signedOut);
  if (session.token && !inviteToken) {
    const { ok, status, body } = await call('GET', 'v1/auth/me', { token: session.token });
    if (ok && takeNext()) return backToConsole(takeNext());
    if (ok) showAccount(body, null);
    else if (status === 401) session.forget();
    else byId('page-alert').textContent = body.error;
    if (ok) show('account');
  }
  const entry = await prepareInvite(inviteToken);
  prepareForms(entry.inviteToken);
  if (!byId('account').hidden) return;
  notice(entry.notice);
  show(location.hash === '#forgot' ? 'forgot' : entry.view);
}

void start();
