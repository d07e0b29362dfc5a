import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { loadStatus, user } from '../shared/account.js';
import { answer, api, onSessionEnd } from '../shared/api.js';
import { Dialog } from '../shared/dialog.js';
import { Field, Form, useForm } from '../shared/form.js';
import { keepSession, leaveForSignIn } from '../shared/session.js';

/** The functions that continue the calls after the next sign-in. Empty while the session has not ended. */
const waiting = signal<readonly (() => void)[]>([]);

onSessionEnd(
  () =>
    new Promise((resolve) => {
      waiting.value = [...waiting.value, resolve];
    }),
);

/** Asks to sign in again over the open page when the session has ended. Then the page continues with its data. */
export function SignInDialog() {
  const ended = waiting.value.length > 0;
  const [values, setValues] = useState({ password: '' });
  const email = user.value?.email;
  const signIn = useForm(values, setValues, async () => {
    const signedIn = await answer(
      api.POST('/v1/auth/login', { body: { email: email ?? '', ...values, api_key: false } }),
    );
    keepSession(signedIn.token);
    setValues({ password: '' });
    const resume = waiting.value;
    waiting.value = [];
    for (const go of resume) go();
    await loadStatus();
  });
  if (!ended) return null;
  if (!email) {
    leaveForSignIn();
    return null;
  }
  return (
    <Dialog title="Your session has ended">
      <Form
        act={signIn}
        submit="Sign in"
        actions={
          <button type="button" class="button" onClick={leaveForSignIn}>
            Use another account
          </button>
        }
      >
        <p>Sign in again to go on. What you have entered stays.</p>
        <Field label="E-mail" type="email" autocomplete="username" readOnly value={email} />
        <Field
          label="Password"
          type="password"
          autocomplete="current-password"
          required
          {...signIn.field('password')}
        />
      </Form>
    </Dialog>
  );
}
