import { readFileSync } from 'node:fs';
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import type { SiteClaims, SiteTokenVerifier } from '../../application/accounts/ports.js';
import { accountLimits } from '../../domain/accounts/account.js';
import { SiteTokenInvalid } from '../../domain/accounts/errors.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';

export interface SiteTokenSettings {
  /** At most one of `secret`, `jwksFile` and `jwksUrl` is set. */
  readonly secret: string | null;
  readonly jwksFile: string | null;
  readonly jwksUrl: string | null;
  readonly issuer: string;
  readonly audience: string;
}

type Verify = (token: string) => Promise<JWTPayload>;

const FETCH_TIMEOUT_MS = 3_000;
const LONGEST_TEXT = 200;
/** The last moment that a Date can hold. */
const LATEST_SECONDS = 8.64e12;

const Text = z.string().refine((text) => text.isWellFormed() && !text.includes('\0'));
const OptionalText = Text.max(LONGEST_TEXT)
  .nullish()
  .transform((text) => text || null);

const Claims = z.object({
  jti: Text.min(1).max(LONGEST_TEXT),
  exp: z
    .number()
    .max(LATEST_SECONDS)
    .transform((seconds) => new Date(seconds * 1_000)),
  email: Text.min(1).max(accountLimits.email),
  email_verified: z
    .unknown()
    .optional()
    .transform((value) => (value === undefined || value === null ? null : value === true)),
  name: OptionalText,
  team: OptionalText,
});

/** Verifies JSON Web Tokens: HS256 with a shared secret, RS256 or ES256 with a key set from a file or a URL. */
export class JoseSiteTokenVerifier implements SiteTokenVerifier {
  private readonly signature: Verify | null;

  /** Disables the site login when the settings are null. Throws if the key file cannot be read. */
  constructor(settings: SiteTokenSettings | null) {
    this.signature = settings && signatureVerifier(settings);
  }

  get enabled(): boolean {
    return this.signature !== null;
  }

  /** Throws StorageUnavailable if the key set cannot be used. */
  async verify(token: string): Promise<SiteClaims> {
    const payload = this.signature && (await this.signature(token).catch(nullIfRefused));
    const claims = Claims.safeParse(payload);
    if (!claims.success) throw new SiteTokenInvalid();
    const { jti: tokenId, exp: expiresAt, email_verified: emailVerified, email, name, team } = claims.data;
    return { email, emailVerified, name, team, tokenId, expiresAt };
  }
}

function signatureVerifier({ secret, jwksFile, jwksUrl, issuer, audience }: SiteTokenSettings): Verify {
  const checks = { issuer, audience, requiredClaims: ['exp', 'jti', 'email'] };
  if (secret !== null) {
    const key = new TextEncoder().encode(secret);
    return async (token) => (await jwtVerify(token, key, { ...checks, algorithms: ['HS256'] })).payload;
  }
  const keys = jwksFile
    ? createLocalJWKSet(JSON.parse(readFileSync(jwksFile, 'utf8')))
    : createRemoteJWKSet(new URL(jwksUrl ?? ''), { timeoutDuration: FETCH_TIMEOUT_MS });
  const options = { ...checks, algorithms: ['RS256', 'ES256'] };
  return async (token) => {
    try {
      return (await jwtVerify(token, keys, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // The token does not name its key, so it is valid if any of the keys verifies it.
      for await (const key of error) {
        const verified = await jwtVerify(token, key, options).catch(nullIfOtherKey);
        if (verified) return verified.payload;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  };
}

function nullIfOtherKey(error: unknown): null {
  if (error instanceof errors.JWSSignatureVerificationFailed) return null;
  throw error;
}

const TOKEN_FAULTS = [
  errors.JWSInvalid,
  errors.JWTInvalid,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWSSignatureVerificationFailed,
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
];

/** Returns null for a fault of the token. Any other failure is a fault of the key set: a lost network, a broken key. */
function nullIfRefused(error: unknown): null {
  if (TOKEN_FAULTS.some((fault) => error instanceof fault)) return null;
  throw new StorageUnavailable('the key set of the embedding site is out of reach');
}
