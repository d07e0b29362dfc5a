import { TokenExpired, TokenUsed } from './errors.js';

export type MailedTokenPurpose = 'verification' | 'reset';

/** A single-use token in an e-mail. Its use proves that the e-mail reached the account. Only its digest is stored. */
export interface MailedToken {
  readonly id: string;
  readonly purpose: MailedTokenPurpose;
  readonly accountId: string;
  readonly digest: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | null;
}

const HOUR_MS = 60 * 60 * 1000;

const lifetimes: Record<MailedTokenPurpose, number> = { verification: 24 * HOUR_MS, reset: HOUR_MS };

type Draft = Pick<MailedToken, 'id' | 'purpose' | 'accountId' | 'digest' | 'createdAt'>;

export const MailedToken = {
  issue: (draft: Draft): MailedToken => ({
    ...draft,
    expiresAt: new Date(draft.createdAt.getTime() + lifetimes[draft.purpose]),
    usedAt: null,
  }),

  /** Throws TokenUsed or TokenExpired. */
  use(token: MailedToken, at: Date): MailedToken {
    if (token.usedAt) throw new TokenUsed();
    if (at >= token.expiresAt) throw new TokenExpired();
    return { ...token, usedAt: at };
  },
};

/** An e-mail to one person. */
export interface Message {
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
