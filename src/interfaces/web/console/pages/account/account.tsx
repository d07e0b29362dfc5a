import { useState } from 'preact/hooks';
import { can, loadStatus } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Field, FormError, fieldError, SubmitButton, useAction } from '../../shared/form.js';
import { Frame, Panel } from '../../shared/frame.js';
import type { Page } from '../../shared/page.js';
import { type Query, useQuery } from '../../shared/query.js';
import { Loaded } from '../../shared/states.js';
import { toast, toastError } from '../../shared/toasts.js';
import { Keys } from './keys.js';
import { Sessions } from './sessions.js';

type OwnUser = Schemas['OwnUser'];

/** Shows the signed-in account: name, e-mails, password, API keys and sessions. */
function Account() {
  const query = useQuery('account', () => answer(api.GET('/v1/auth/me')));
  return (
    <Frame title="Account">
      <Loaded query={query} what="your account">
        {(user) => (
          <>
            {!user.email_verified && <Unverified user={user} />}
            <div class="columns">
              <Profile user={user} query={query} />
              <Password email={user.email} />
            </div>
          </>
        )}
      </Loaded>
      <Keys />
      <Sessions />
    </Frame>
  );
}

function Unverified({ user }: { user: OwnUser }) {
  const send = useAction(async () => {
    await answer(api.POST('/v1/auth/verify-email/resend'));
    toast(`Another e-mail is on its way to ${user.email}.`);
  });
  return (
    <div class="note warn">
      <p>Open the link that we sent to {user.email}. Until then you can make no API key, evaluation or external job.</p>
      <FormError error={send.error} />
      <button type="button" class="button small" disabled={send.busy} onClick={() => void send.run()}>
        Send again
      </button>
    </div>
  );
}

function Profile({ user, query }: { user: OwnUser; query: Query<OwnUser> }) {
  const [name, setName] = useState(user.name);
  const save = useAction(async () => {
    query.set(await answer(api.PATCH('/v1/auth/me', { body: { name } })));
    toast('Your name is changed.');
    await loadStatus();
  });
  const mailAlerts = async (wanted: boolean) => {
    try {
      query.set(await answer(api.PATCH('/v1/auth/me', { body: { alert_emails: wanted } })));
      toast(wanted ? 'Alerts are mailed to you from now on.' : 'Alerts are no longer mailed to you.');
    } catch (reason) {
      toastError(reason);
      await query.reload();
    }
  };
  return (
    <Panel title="Profile">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save.run();
        }}
      >
        <FormError error={save.error} fields={['name']} />
        <Field
          label="Name"
          autocomplete="name"
          value={name}
          error={fieldError(save.error, 'name')}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <Field
          label="E-mail"
          value={user.email}
          readOnly
          hint={`${user.email_verified ? 'Verified' : 'Not verified yet'}. Your role is ${user.role}.`}
        />
        <div class="actions">
          <SubmitButton busy={save.busy} plain>
            Save the name
          </SubmitButton>
        </div>
      </form>
      {can('manage_monitoring') && user.email_verified && (
        <label class="choice">
          <input
            type="checkbox"
            checked={user.alert_emails}
            onChange={(event) => void mailAlerts(event.currentTarget.checked)}
          />
          Mail alerts to me
        </label>
      )}
    </Panel>
  );
}

function Password({ email }: { email: string }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [revokeKeys, setRevokeKeys] = useState(false);
  const change = useAction(async () => {
    const body = { password, current_password: current, revoke_keys: revokeKeys };
    await answer(api.PATCH('/v1/auth/me', { body }));
    setCurrent('');
    setPassword('');
    toast('Your password is changed. Your other sessions and the keys that sign-ins made have ended.');
  });
  return (
    <Panel title="Password">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void change.run();
        }}
      >
        <FormError error={change.error} fields={['password', 'current_password']} />
        <input hidden autocomplete="username" value={email} readOnly />
        <Field
          label="Current password"
          type="password"
          autocomplete="current-password"
          value={current}
          error={fieldError(change.error, 'current_password')}
          onInput={(event) => setCurrent(event.currentTarget.value)}
        />
        <Field
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="8 to 128 characters"
          value={password}
          error={fieldError(change.error, 'password')}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={revokeKeys}
            onChange={(event) => setRevokeKeys(event.currentTarget.checked)}
          />
          Also revoke all my API keys
        </label>
        <div class="actions">
          <SubmitButton busy={change.busy} plain>
            Change the password
          </SubmitButton>
        </div>
      </form>
    </Panel>
  );
}

export const account: Page = {
  path: '/account',
  title: 'Account',
  view: Account,
  needs: 'own_account',
  menu: { group: 'People', icon: 'account', key: 'u' },
};
