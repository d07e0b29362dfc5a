import { escapeHtml, type Message } from '../../domain/accounts/message.js';

/** Asks a new account to confirm its address. */
export const verificationMail = (to: Message['to'], link: string, token: string): Message =>
  compose(to, {
    subject: 'Confirm your e-mail address for Tenon',
    act: 'Confirm your e-mail address',
    within: '24 hours',
    call: 'POST /v1/auth/verify-email as {"token": "..."}',
    otherwise: 'If you did not register, ignore this message.',
    link,
    token,
  });

/** Lets the owner of an account choose a new password. */
export const resetMail = (to: Message['to'], link: string, token: string): Message =>
  compose(to, {
    subject: 'Choose a new password for Tenon',
    act: 'Choose a new password',
    within: 'one hour',
    call: 'POST /v1/auth/password/reset as {"token": "...", "password": "..."}',
    otherwise: 'If you did not ask for this, ignore this message: your password stays as it is.',
    link,
    token,
  });

interface MailText {
  readonly subject: string;
  readonly act: string;
  readonly within: string;
  readonly call: string;
  readonly otherwise: string;
  readonly link: string;
  readonly token: string;
}

const compose = (to: Message['to'], { subject, act, within, call, otherwise, link, token }: MailText): Message => ({
  to,
  subject,
  text: `Hello ${to.name},

${act} within ${within} by this link:

${link}

Or send the token to ${call}:

${token}

${otherwise}
`,
  html: `<!doctype html>
<html lang="en"><body style="font-family: sans-serif; line-height: 1.5">
<p>Hello ${escapeHtml(to.name)},</p>
<p><a href="${escapeHtml(link)}">${act}</a> within ${within}.</p>
<p>If the link does not open, copy it:<br>${escapeHtml(link)}</p>
<p>${otherwise}</p>
</body></html>
`,
});
