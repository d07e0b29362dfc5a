import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { TokenNotFound } from '../../domain/accounts/errors.js';
import { escapeHtml, MailedToken, type MailedTokenPurpose, type Message } from '../../domain/accounts/mailed-token.js';
import { Clock, IdGenerator } from '../shared/ports.js';
import { MailQueue } from './mail-queue.js';
import { AccountRepository, MailedTokenRepository, PageLinks, SecretTokens } from './ports.js';

/** Returns the e-mail that asks a new account to confirm its address. */
const verificationMail = (to: Message['to'], link: string, token: string): Message =>
  compose(to, {
    subject: 'Confirm your e-mail address for Tenon',
    act: 'Confirm your e-mail address',
    within: '24 hours',
    call: 'POST /v1/auth/verify-email as {"token": "..."}',
    otherwise: 'If you did not register, ignore this message.',
    link,
    token,
  });

/** Returns the e-mail with the link to choose a new password. */
const resetMail = (to: Message['to'], link: string, token: string): Message =>
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

const NAME_LENGTH = 40;

/**
 * Returns the name for a mail to an unverified address. The address may belong to a stranger, so the name is short and
 * has no words that a mail program shows as links.
 */
function harmlessName(name: string): string {
  const words = name.split(/\s+/).filter((word) => !/[:/\\@]|^www\.|\.\p{L}{2}/iu.test(word));
  return [...words.join(' ')].slice(0, NAME_LENGTH).join('').trim() || 'there';
}

/** Limits the mails of one purpose to an account, so that a stranger cannot flood its mailbox. */
const MOST_AN_HOUR = 5;
const HOUR_MS = 60 * 60 * 1000;

/** Mails single-use tokens to the owners of accounts and redeems them. Writes within the caller's unit of work. */
@injectable()
export class TokenMailer {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly mailedTokens: MailedTokenRepository,
    private readonly mails: MailQueue,
    private readonly tokens: SecretTokens,
    private readonly links: PageLinks,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Mails a token. Does nothing if the account got five tokens of this purpose within the last hour. */
  async send(account: Account, purpose: MailedTokenPurpose): Promise<void> {
    const createdAt = this.clock.now();
    const anHourAgo = new Date(createdAt.getTime() - HOUR_MS);
    if ((await this.mailedTokens.countSince(account.id, purpose, anHourAgo)) >= MOST_AN_HOUR) return;
    const { token, digest } = this.tokens.issue(purpose);
    await this.mailedTokens.add(
      MailedToken.issue({ id: this.ids.next('ver'), purpose, accountId: account.id, digest, createdAt }),
    );
    await this.mails.add(this.message(account, purpose, token));
  }

  /** Throws TokenNotFound, TokenUsed or TokenExpired for a token that `redeem` would refuse. */
  async check(token: string, purpose: MailedTokenPurpose): Promise<void> {
    await this.find(token, purpose);
  }

  /** Marks a token as used and returns its account. Throws TokenNotFound, TokenUsed, TokenExpired. */
  async redeem(token: string, purpose: MailedTokenPurpose): Promise<Account> {
    const { used, account } = await this.find(token, purpose);
    await this.mailedTokens.save(used);
    return account;
  }

  private async find(token: string, purpose: MailedTokenPurpose): Promise<{ used: MailedToken; account: Account }> {
    const known = this.tokens.read(token);
    const mailed = known?.kind === purpose ? await this.mailedTokens.byDigest(known.digest) : null;
    const account = mailed && (await this.accounts.byId(mailed.accountId));
    if (!mailed || !account) throw new TokenNotFound();
    return { used: MailedToken.use(mailed, this.clock.now()), account };
  }

  private message({ name, email, emailVerifiedAt }: Account, purpose: MailedTokenPurpose, token: string): Message {
    const to = { name: emailVerifiedAt ? name : harmlessName(name), address: email };
    if (purpose === 'verification') return verificationMail(to, this.links.verifyEmail(token), token);
    return resetMail(to, this.links.resetPassword(token), token);
  }
}
