import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { crc32 } from 'node:zlib';
import { injectable } from 'inversify';
import type { MasterKey, SecretToken, SecretTokens, TokenKind } from '../../application/accounts/ports.js';

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
 * Issues tokens. A token is a prefix, 256 random bits, and a CRC-32 of both. It has only letters, digits and `_`, so a
 * double click selects all of it. A plain SHA-256 is enough for the digest, because nobody can guess 256 random bits.
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

export class ConfiguredMasterKey implements MasterKey {
  private readonly digest: Buffer | null;

  constructor(key: string | null) {
    this.digest = key === null ? null : sha256(key);
  }

  matches(credential: string): boolean {
    return this.digest !== null && timingSafeEqual(this.digest, sha256(credential));
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const purposeKey = (secret: string, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `tenon:${purpose}`, 32)));

/** Encrypts text with AES-256-GCM under a key derived from the service's secret for one purpose. */
export class Sealer {
  private readonly key: KeyObject;

  constructor(secret: string, purpose: string) {
    this.key = purposeKey(secret, purpose);
  }

  /** Encrypts the text. Only `open` with the same `context` can decrypt it. */
  seal(text: string, context: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Decrypts a sealed text. Throws if it was sealed with another secret, purpose or context, or was changed. */
  open(text: string, context: string): string {
    const bytes = Buffer.from(text, 'base64url');
    const opener = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    opener.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return opener.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + opener.final('utf8');
  }
}

/** Returns a function for digests of texts that can be guessed, such as addresses. They differ for each purpose. */
export function keyedDigest(secret: string, purpose: string): (text: string) => string {
  const key = purposeKey(secret, purpose);
  return (text) => createHmac('sha256', key).update(text).digest('base64url');
}
