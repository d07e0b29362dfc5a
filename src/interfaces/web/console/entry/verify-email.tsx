import { useState } from 'preact/hooks';
import { ApiError, answer, api } from '../shared/api.js';
import { Form, useAction } from '../shared/form.js';
import { EntryFrame, takeFromLink } from './frame.js';

const token = takeFromLink('token');
const WITHOUT_TOKEN = 'Open this page by the link of the e-mail, which contains the token.';

/** Confirms an e-mail address. Waits for a click, because mail scanners open links and the token works once. */
export function VerifyEmail() {
  const [result, setResult] = useState(token ? null : WITHOUT_TOKEN);
  const confirm = useAction(async () => {
    try {
      const { email } = await answer(api.POST('/v1/auth/verify-email', { body: { token: token ?? '' } }));
      setResult(`${email} is confirmed.`);
    } catch (reason) {
      // A token that is unknown, used or expired stays so: another click cannot help.
      if (!(reason instanceof ApiError) || ![404, 410].includes(reason.status)) throw reason;
      setResult(reason.message);
    }
  });
  return (
    <EntryFrame title="Confirm your e-mail address">
      <p class="entry-notice" role="status">
        {result}
      </p>
      {result === null && (
        <Form act={confirm} submit="Confirm">
          <p>One click and your account is verified.</p>
        </Form>
      )}
      <p class="entry-switch">
        <a href="./">To the console</a>
      </p>
    </EntryFrame>
  );
}
