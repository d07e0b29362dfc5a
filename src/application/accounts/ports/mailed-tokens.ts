import type { MailedToken, MailedTokenPurpose } from '../../../domain/accounts/mailed-token.js';
import { port } from '../../shared/port.js';

export interface MailedTokens {
  add(token: MailedToken): Promise<void>;
  save(token: MailedToken): Promise<void>;
  byDigest(digest: string): Promise<MailedToken | null>;
  /** How many tokens of an account for that purpose were made after `since`. */
  countSince(accountId: string, purpose: MailedTokenPurpose, since: Date): Promise<number>;
  /** Forgets all tokens of an account for that purpose that nobody has used. */
  removeUnused(accountId: string, purpose: MailedTokenPurpose): Promise<void>;
}
export const MailedTokens = port<MailedTokens>('accounts.MailedTokens');
