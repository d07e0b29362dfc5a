import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { injectable } from 'inversify';
import type { SecretToken, SecretTokens, TokenKind } from '../../application/shared/ports.js';

const PREFIXES = {
  session: 'tns_',
  api_key: 'tnk_',
  verification: 'tnv_',
  reset: 'tnr_',
  invite: 'tni_',
} as const satisfies Record<TokenKind, string>;
const KINDS = new Map(Object.entries(PREFIXES).map(([kind, prefix]) => [prefix as string, kind as TokenKind]));

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43; // 256 bits in base 62
const CHECK_LENGTH = 6; // 32 bits in base 62
const HINT_LENGTH = 4;
const FORM = new RegExp(`^(tn[a-z]_)([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECK_LENGTH}})$`);

/**
 * Issues tokens of a prefix, 256 random bits and a CRC-32 of both, in letters and digits, so that a double click selects
 * all of it. A plain SHA-256 is enough for the digest, because nobody can guess 256 random bits.
 */
@injectable()
export class CheckedTokens implements SecretTokens {
  issue(kind: TokenKind): SecretToken {
    const body = PREFIXES[kind] + base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_LENGTH);
    const token = body + checksum(body);
    return { token, digest: digest(token), hint: `${PREFIXES[kind]}…${token.slice(-HINT_LENGTH)}` };
  }

  read(token: string): { kind: TokenKind; digest: string } | null {
    const [, prefix = '', secret = '', check] = FORM.exec(token) ?? [];
    const kind = KINDS.get(prefix);
    return kind && checksum(prefix + secret) === check ? { kind, digest: digest(token) } : null;
  }
}

const digest = (token: string) => hash('sha256', token, 'hex');
const checksum = (body: string) => base62(BigInt(crc32(body)), CHECK_LENGTH);

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}
