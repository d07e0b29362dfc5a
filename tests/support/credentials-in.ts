import { CheckedTokens } from '../../src/infrastructure/crypto/secrets.js';

const FORM = /(?=(tn[a-z]_[0-9A-Za-z]{49}))/g;

/**
 * Returns every usable credential and mailed token in a text. Looks at their checksums, because encrypted text in
 * base64 can look like a token by chance.
 */
export function credentialsIn(text: string): string[] {
  const tokens = new CheckedTokens();
  return [...text.matchAll(FORM)].map(([, like = '']) => like).filter((like) => tokens.read(like) !== null);
}
