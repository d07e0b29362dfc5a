import { readFileSync } from 'node:fs';
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import type { SiteClaims, SiteTokenVerifier } from '../../application/accounts/ports.js';
import { accountLimits } from '../../domain/accounts/account.js';
import { SiteTokenInvalid } from '../../domain/accounts/errors.js';
import { StorageUnavailable } from '../../domain/operations/errors.js';

export interface SiteTokenSettings {
  /** At most one of the three. */
  readonly secret: string | null;
  readonly jwksFile: string | null;
  readonly jwksUrl: string | null;
  readonly issuer: string;
  readonly audience: string;
}

type Verify = (token: string) => Promise<JWTPayload>;

const FETCH_TIMEOUT_MS = 3_000;
const LONGEST_TEXT = 200;

/** JSON Web Tokens: HS256 with a shared secret, RS256 or ES256 with a key set from a file or a URL. */
export class JoseSiteTokens implements SiteTokenVerifier {
  private readonly check: Verify | null;

  /** Null: no site is set up. Throws when the key file cannot be read. */
  constructor(settings: SiteTokenSettings | null) {
    this.check = settings && verifier(settings);
  }

  get enabled(): boolean {
    return this.check !== null;
  }

  /** Throws StorageUnavailable when the key set is out of reach or of no use. */
  async verify(token: string): Promise<SiteClaims> {
    const claims = this.check && (await this.check(token).catch(refused));
    if (!claims) throw new SiteTokenInvalid();
    const { jti, exp, email, email_verified, name, team } = claims;
    const expiresAt = new Date((exp ?? Number.NaN) * 1000);
    const texts = [jti, name ?? '', team ?? ''].every((text) => isText(text)) && isText(email, accountLimits.email);
    if (!texts || !jti || !email || Number.isNaN(expiresAt.getTime())) throw new SiteTokenInvalid();
    return {
      email: email as string,
      emailVerified: email_verified === undefined || email_verified === null ? null : email_verified === true,
      name: (name as string | undefined) || null,
      team: (team as string | undefined) || null,
      tokenId: jti,
      expiresAt,
    };
  }
}

const isText = (value: unknown, longest: number = LONGEST_TEXT) =>
  typeof value === 'string' && value.length <= longest && value.isWellFormed() && !value.includes('\0');

function verifier({ secret, jwksFile, jwksUrl, issuer, audience }: SiteTokenSettings): Verify {
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
      // The token does not say which of several keys: it holds where one of them holds.
      for await (const key of error) {
        const verified = await jwtVerify(token, key, options).catch(unlessOtherKey);
        if (verified) return verified.payload;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  };
}

function unlessOtherKey(error: unknown): null {
  if (error instanceof errors.JWSSignatureVerificationFailed) return null;
  throw error;
}

/** What jose throws where the token is at fault. */
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

/**
 * A token that does not hold is one thing. Whatever else goes wrong, from the network to a key that is none, is the
 * fault of the key set and not the caller's.
 */
function refused(error: unknown): null {
  if (TOKEN_FAULTS.some((fault) => error instanceof fault)) return null;
  throw new StorageUnavailable('the key set of the embedding site is out of reach');
}
