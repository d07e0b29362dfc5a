import { CheckedTokens } from '../../src/infrastructure/crypto/secrets.js';

const FORM = /(?=(tn[a-z]_[0-9A-Za-z]{49}))/g;

/**
 * Every usable credential and mailed token in a text. Its checksum tells one from the chance likeness that encrypted
 * text in base 64 has now and then.
 */
export function credentialsIn(text: string): string[] {
  const tokens = new CheckedTokens();
  return [...text.matchAll(FORM)].map(([, like = '']) => like).filter((like) => tokens.read(like) !== null);
}
