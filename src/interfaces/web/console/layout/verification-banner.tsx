import { useEffect } from 'preact/hooks';
import { loadStatus, status } from '../shared/account.js';
import { answer, api } from '../shared/api.js';
import { CopyButton } from '../shared/copy-button.js';
import { FormError, useAction } from '../shared/form.js';
import { toast } from '../shared/toasts.js';

/** Returns a text as one word of a shell. */
const shellWord = (text: string): string => (/^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Asks an unverified account to confirm its address, and tells how. Looks again when the user comes back to the tab. */
export function VerificationBanner() {
  const { caller, mail } = status.value ?? {};
  const unverified = caller?.user && !caller.verified ? caller.user : null;
  const send = useAction(async () => {
    await answer(api.POST('/v1/auth/verify-email/resend'));
    toast(mail === 'outbox' ? 'Another message is in the outbox.' : `Another e-mail goes to ${unverified?.email}.`);
  });
  useEffect(() => {
    if (!unverified) return;
    const look = () => void loadStatus().catch(() => {}); // The next visit looks again.
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, [unverified === null]);
  if (!unverified) return null;
  const command = `npx tenon verify-email --email ${shellWord(unverified.email)}`;
  return (
    <section class="note warn banner" aria-label="Unverified account">
      <p>
        <strong>Confirm your e-mail address.</strong> Until then you can make no API keys, evaluations and external
        jobs.{' '}
        {mail === 'outbox'
          ? `No mail server is set: the message to ${unverified.email} lies in the folder outbox of the service’s data folder. Whoever runs the service can also confirm the address there with this command:`
          : `Open the link that we sent to ${unverified.email}.`}
      </p>
      <FormError error={send.error} />
      <div class="actions start">
        {mail === 'outbox' && (
          <>
            <code>{command}</code> <CopyButton text={command} label="Copy command" />
          </>
        )}
        <button type="button" class="button small" disabled={send.busy} onClick={() => void send.run()}>
          Send the mail again
        </button>
      </div>
    </section>
  );
}
