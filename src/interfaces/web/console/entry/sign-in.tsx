import { useEffect, useState } from 'preact/hooks';
import { ApiError, answer, api } from '../shared/api.js';
import { Field, Form, useForm } from '../shared/form.js';
import { keepSession, leaveNewKey, token } from '../shared/session.js';
import { ErrorNote, Loading } from '../shared/states.js';
import { type Admission, readAdmission } from './admission.js';
import { EntryFrame, takeFromLink } from './frame.js';

const invite = takeFromLink('invite');
const wantsReset = location.hash === '#forgot';

/** Goes to the place of the console that led here, or to its overview. */
function enterConsole(): void {
  const next = new URLSearchParams(location.hash.slice(1)).get('next');
  location.replace(`./#${next?.startsWith('/') ? next : '/'}`);
}

type ViewName = 'sign-in' | 'sign-up' | 'forgot';

/** Signs in or up, and mails a link for a new password. Accepts an invite. With a session, goes to the console. */
export function SignIn() {
  const [admission, setAdmission] = useState<Admission>();
  const [error, setError] = useState<ApiError>();
  const [view, setView] = useState<ViewName>('sign-in');
  const [notice, setNotice] = useState('');
  const [email, setEmail] = useState('');
  const start = async () => {
    setError(undefined);
    if (token.value && !invite) return enterConsole();
    try {
      const found = await readAdmission(invite);
      setNotice(found.notice);
      setView(wantsReset ? 'forgot' : found.view);
      setAdmission(found);
    } catch (reason) {
      setError(reason as ApiError);
    }
  };
  useEffect(() => void start(), []);
  const show = (next: ViewName, said = '') => {
    setNotice(said);
    setView(next);
  };
  if (error || !admission) {
    return (
      <EntryFrame key="loading" title="Sign in">
        {error ? <ErrorNote error={error} onRetry={start} /> : <Loading what="the page" />}
      </EntryFrame>
    );
  }
  if (view === 'sign-up') {
    return (
      <EntryFrame title="Sign up">
        <Notice text={notice} />
        <SignUpForm admission={admission} />
        <Switch question="You have an account?" label="Sign in" onSwitch={() => show('sign-in')} />
      </EntryFrame>
    );
  }
  if (view === 'forgot') {
    const sent = 'If there is an account with this address, an e-mail is on its way to it.';
    return (
      <EntryFrame title="Forgot your password?">
        <ForgotForm email={email} onSent={() => show('sign-in', sent)} />
        <Switch label="Back to sign in" onSwitch={() => show('sign-in')} />
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title="Sign in">
      <Notice text={notice} />
      <SignInForm onEmail={setEmail} />
      <Switch label="Forgot your password?" onSwitch={() => show('forgot')} />
      {admission.maySignUp && <Switch question="No account yet?" label="Sign up" onSwitch={() => show('sign-up')} />}
    </EntryFrame>
  );
}

const Notice = ({ text }: { text: string }) => (
  <p class="entry-notice" role="status">
    {text}
  </p>
);

const Switch = ({ question, label, onSwitch }: { question?: string; label: string; onSwitch: () => void }) => (
  <p class="entry-switch">
    {question}{' '}
    <button type="button" class="link" onClick={onSwitch}>
      {label}
    </button>
  </p>
);

function SignInForm({ onEmail }: { onEmail: (email: string) => void }) {
  const [values, setValues] = useState({ email: '', password: '' });
  useEffect(() => onEmail(values.email), [values.email]);
  const form = useForm(values, setValues, async () => {
    const { token } = await answer(api.POST('/v1/auth/login', { body: { ...values, api_key: false } }));
    keepSession(token);
    enterConsole();
  });
  return (
    <Form act={form} submit="Sign in">
      <Field label="E-mail" type="email" autocomplete="username" {...form.field('email')} />
      <Field label="Password" type="password" autocomplete="current-password" {...form.field('password')} />
    </Form>
  );
}

function SignUpForm({ admission: { email, inviteToken } }: { admission: Admission }) {
  const [values, setValues] = useState({ name: '', email: email ?? '', password: '' });
  const form = useForm(values, setValues, async () => {
    const body = { ...values, invite_token: inviteToken };
    const { token, api_key } = await answer(api.POST('/v1/auth/register', { body }));
    keepSession(token);
    if (api_key) leaveNewKey(api_key);
    enterConsole();
  });
  return (
    <Form act={form} submit="Sign up">
      <Field label="Name" autocomplete="name" {...form.field('name')} />
      <Field
        label="E-mail"
        type="email"
        autocomplete="username"
        readOnly={email !== null}
        hint={email !== null && 'The invite is for this address.'}
        {...form.field('email')}
      />
      <Field
        label="Password"
        type="password"
        autocomplete="new-password"
        hint="8 to 128 characters"
        {...form.field('password')}
      />
    </Form>
  );
}

function ForgotForm({ email, onSent }: { email: string; onSent: () => void }) {
  const [values, setValues] = useState({ email });
  const form = useForm(values, setValues, async () => {
    await answer(api.POST('/v1/auth/password/forgot', { body: values }));
    onSent();
  });
  return (
    <Form act={form} submit="Send the link">
      <p>We send you a link that lets you choose a new password.</p>
      <Field label="E-mail" type="email" autocomplete="username" {...form.field('email')} />
    </Form>
  );
}
