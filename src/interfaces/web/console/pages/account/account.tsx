import { useState } from 'preact/hooks';
import { CONFIRM_FIRST, can, loadStatus, status } from '../../shared/account.js';
import { answer, api, type Schemas } from '../../shared/api.js';
import { Field, Form, useForm } from '../../shared/form.js';
import { Frame, Panel } from '../../shared/frame.js';
import { type Query, useQuery } from '../../shared/query.js';
import { Loaded } from '../../shared/states.js';
import { report, toast } from '../../shared/toasts.js';
import { Keys } from './keys.js';
import { Sessions } from './sessions.js';

type OwnUser = Schemas['OwnUser'];

export function Account() {
  const query = useQuery('account', () => answer(api.GET('/v1/auth/me')));
  return (
    <Frame title="Account">
      <Loaded query={query} what="your account">
        {(user) => (
          <div class="columns">
            <Profile user={user} query={query} />
            <Password email={user.email} />
          </div>
        )}
      </Loaded>
      <Keys />
      <Sessions />
    </Frame>
  );
}

function Profile({ user, query }: { user: OwnUser; query: Query<OwnUser> }) {
  const [values, setValues] = useState({ name: user.name });
  const verified = status.value?.caller.verified === true;
  const save = useForm(values, setValues, async () => {
    query.set(await answer(api.PATCH('/v1/auth/me', { body: values })));
    toast('Your name is changed.');
    await loadStatus();
  });
  const mailAlerts = async (wanted: boolean) => {
    await report(
      answer(api.PATCH('/v1/auth/me', { body: { alert_emails: wanted } })),
      wanted ? 'Alerts are mailed to you from now on.' : 'Alerts are no longer mailed to you.',
    );
    await query.reload();
  };
  return (
    <Panel title="Profile">
      <Form act={save} submit="Save the name" plain>
        <Field label="Name" autocomplete="name" required {...save.field('name')} />
        <Field
          label="E-mail"
          value={user.email}
          readOnly
          hint={`${verified ? 'Verified' : 'Not verified yet'}. Your role is ${user.role}.`}
        />
      </Form>
      {can('manage_monitoring') && (
        <label class="choice">
          <input
            type="checkbox"
            checked={user.alert_emails}
            disabled={!verified}
            onChange={(event) => void mailAlerts(event.currentTarget.checked)}
          />
          Mail alerts to me {!verified && <span class="hint">{CONFIRM_FIRST}</span>}
        </label>
      )}
    </Panel>
  );
}

const NO_PASSWORDS = { current_password: '', password: '' };

function Password({ email }: { email: string }) {
  const [values, setValues] = useState(NO_PASSWORDS);
  const [revokeKeys, setRevokeKeys] = useState(false);
  const change = useForm(values, setValues, async () => {
    await answer(api.PATCH('/v1/auth/me', { body: { ...values, revoke_keys: revokeKeys } }));
    setValues(NO_PASSWORDS);
    toast('Your password is changed. Your other sessions and the API keys from sign-ins have ended.');
  });
  return (
    <Panel title="Password">
      <Form act={change} submit="Change the password" plain>
        <input hidden autocomplete="username" value={email} readOnly />
        <Field
          label="Current password"
          type="password"
          autocomplete="current-password"
          required
          {...change.field('current_password')}
        />
        <Field
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="8 to 128 characters"
          required
          {...change.field('password')}
        />
        <label class="choice">
          <input
            type="checkbox"
            checked={revokeKeys}
            onChange={(event) => setRevokeKeys(event.currentTarget.checked)}
          />
          Also revoke all my API keys
        </label>
      </Form>
    </Panel>
  );
}
