import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../shared/api.js';
import { Field, Form, useForm } from '../shared/form.js';
import { EntryFrame, takeFromLink } from './frame.js';

const token = takeFromLink('token');
const WITHOUT_TOKEN = 'Open this page by the link of the e-mail, which contains the token.';

/** Sets a new password with the token of an e-mail. */
export function ResetPassword() {
  const [values, setValues] = useState({ password: '', again: '' });
  const [revokeKeys, setRevokeKeys] = useState(false);
  const [notice, setNotice] = useState(token ? '' : WITHOUT_TOKEN);
  const [isSet, setIsSet] = useState(false);
  const form = useForm(values, setValues, async () => {
    if (values.password !== values.again) {
      const details = [{ path: 'again', message: 'must be the same as the new password' }];
      throw new ApiError(422, 'invalid_request', 'The two passwords differ.', null, details);
    }
    const body = { token: token ?? '', password: values.password, revoke_keys: revokeKeys };
    const { email } = await answer(api.POST('/v1/auth/password/reset', { body }));
    setNotice(`The new password of ${email} is set.`);
    setIsSet(true);
  });
  return (
    <EntryFrame title="Choose a new password">
      <p class="entry-notice" role="status">
        {notice}
      </p>
      {token && !isSet && (
        <Form act={form} submit="Set the password">
          <Field
            label="New password"
            type="password"
            autocomplete="new-password"
            hint="8 to 128 characters"
            {...form.field('password')}
          />
          <Field label="New password, again" type="password" autocomplete="new-password" {...form.field('again')} />
          <label class="choice">
            <input
              type="checkbox"
              checked={revokeKeys}
              onChange={(event) => setRevokeKeys(event.currentTarget.checked)}
            />{' '}
            Also revoke the API keys that I made myself
          </label>
          <p class="hint">You are signed out everywhere, and API keys from sign-ins stop working.</p>
        </Form>
      )}
      <p class="entry-switch">{isSet ? <a href="auth">Sign in</a> : <a href="auth#forgot">Ask for another link</a>}</p>
    </EntryFrame>
  );
}
