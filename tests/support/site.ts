import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';

/** Sets up the site login. */
export const site = {
  SERVICE_SITE_LOGIN_SECRET: 'the-shared-secret-of-site-and-service',
  SERVICE_SITE_LOGIN_ISSUER: 'https://site.example',
  SERVICE_SITE_LOGIN_AUDIENCE: 'tenon',
};

/** Returns a token of the site. `exp` is its lifetime in seconds, or null for none. */
export function siteToken(
  claims: object,
  { exp = 300, iss = site.SERVICE_SITE_LOGIN_ISSUER }: { exp?: number | null; iss?: string } = {},
): Promise<string> {
  const token = new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).setJti(randomUUID());
  token.setIssuer(iss).setAudience(site.SERVICE_SITE_LOGIN_AUDIENCE);
  if (exp !== null) token.setExpirationTime(Math.floor(Date.now() / 1000) + exp);
  return token.sign(new TextEncoder().encode(site.SERVICE_SITE_LOGIN_SECRET));
}
