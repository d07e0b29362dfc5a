import { injectable } from 'inversify';
import type { Account } from '../../domain/accounts/account.js';
import { MailedToken, type MailedTokenPurpose } from '../../domain/accounts/mailed-token.js';
import type { Message } from '../../domain/accounts/message.js';
import { Clock, IdGenerator, SecretTokens } from '../shared/ports.js';
import { resetMail, verificationMail } from './account-mails.js';
import { MailedTokenRepository, MailOutbox, PageLinks } from './ports.js';

/** More than anybody needs, and few enough that no stranger can flood a mailbox. */
const MOST_AN_HOUR = 5;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Sends the owner of an account a token, within the caller's unit of work; nothing to an account that was sent enough
 * of them within the last hour.
 */
@injectable()
export class MailToken {
  constructor(
    private readonly mailed: MailedTokenRepository,
    private readonly outbox: MailOutbox,
    private readonly tokens: SecretTokens,
    private readonly links: PageLinks,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  async execute(account: Account, purpose: MailedTokenPurpose): Promise<void> {
    const createdAt = this.clock.now();
    const anHourAgo = new Date(createdAt.getTime() - HOUR_MS);
    if ((await this.mailed.countSince(account.id, purpose, anHourAgo)) >= MOST_AN_HOUR) return;
    const { token, digest } = this.tokens.issue(purpose);
    await this.mailed.add(
      MailedToken.issue({ id: this.ids.next('ver'), purpose, accountId: account.id, digest, createdAt }),
    );
    const to = { name: account.name, address: account.email };
    await this.outbox.add({ id: this.ids.next('msg'), message: this.message(purpose, to, token), dueAt: createdAt });
  }

  private message(purpose: MailedTokenPurpose, to: Message['to'], token: string): Message {
    if (purpose === 'verification') return verificationMail(to, this.links.verifyEmail(token), token);
    return resetMail(to, this.links.resetPassword(token), token);
  }
}
