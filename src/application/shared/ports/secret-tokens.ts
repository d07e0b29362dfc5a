import { port } from '../port.js';

export type TokenKind = 'session' | 'api_key' | 'verification' | 'reset' | 'invite';

export interface SecretToken {
  /** What its owner gets, this once. */
  readonly token: string;
  /** What is kept: it finds the token again and gives nothing away. */
  readonly digest: string;
  /** Enough of it for its owner to tell it by, and too little to be of use. */
  readonly hint: string;
}

/** Opaque secrets with a readable prefix and a checksum (`tns_` session, `tnk_` API key,
 * `tnv_` verification, `tnr_` reset, `tni_` invite). */
export interface SecretTokens {
  /** At least 256 bits that nobody can guess. */
  issue(kind: TokenKind): SecretToken;
  /** Kind and digest of a well-formed token; null for any other text, found out without looking anything up. */
  read(token: string): { readonly kind: TokenKind; readonly digest: string } | null;
}
export const SecretTokens = port<SecretTokens>('shared.SecretTokens');
