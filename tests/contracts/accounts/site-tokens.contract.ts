import type { SiteTokenVerifier } from '../../../src/application/accounts/ports.js';
import { SiteTokenInvalid } from '../../../src/domain/accounts/errors.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface SiteTokensUnderTest {
  readonly siteTokens: SiteTokenVerifier;
  /** Returns a token of these claims that the site signs. */
  signed(claims: Claims): string;
  /** Returns tokens of these claims that the site did not sign, by the way in which they were forged. */
  forged(claims: Claims): Readonly<Record<string, string>>;
}

/** The values that site and service have agreed on. */
export const agreed = { issuer: 'https://shop.example', audience: 'tenon' } as const;

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** Returns the claims of a valid token; undefined leaves one out. */
export const someClaims = (over: Claims = {}): Claims => ({
  iss: agreed.issuer,
  aud: agreed.audience,
  exp: inSeconds(300),
  jti: 'a token',
  email: 'ada@example.com',
  ...over,
});

export function siteTokensContract(adapter: string, open: () => SiteTokensUnderTest) {
  describe(`SiteTokenVerifier of ${adapter}`, () => {
    let site: SiteTokensUnderTest;
    beforeEach(() => {
      site = open();
    });

    const verified = (over: Claims) => site.siteTokens.verify(site.signed(someClaims(over)));
    const outcome = (token: string) =>
      site.siteTokens.verify(token).then(
        () => 'believed',
        (error: unknown) => (error instanceof SiteTokenInvalid ? 'invalid' : error),
      );

    it('gives the claims of a token that the site signed', async () => {
      const exp = inSeconds(60);
      const told = {
        email: 'Ada.Müller@Example.COM',
        email_verified: true,
        name: 'Ada “🦆” 王',
        team: 'Team 7',
        jti: 'x',
      };
      expect(await verified({ ...told, exp, iat: inSeconds(-1), nbf: inSeconds(-1), more: { of: 'it' } })).toEqual({
        email: 'Ada.Müller@Example.COM',
        emailVerified: true,
        name: 'Ada “🦆” 王',
        team: 'Team 7',
        tokenId: 'x',
        expiresAt: new Date(exp * 1000),
      });
    });

    it.each([undefined, null, ''])('takes name and team that are not told for none: %p', async (nothing) => {
      const claims = await verified({ name: nothing, team: nothing });
      expect(claims).toMatchObject({ emailVerified: null, name: null, team: null });
    });

    it.each([false, 'true', 1, {}])('takes an e-mail for verified by nothing but true: %p', async (told) => {
      expect(await verified({ email_verified: told })).toMatchObject({ emailVerified: false });
    });

    it('takes a token that is for others as well, or as long as it may be, or comes a second time', async () => {
      const token = site.signed(someClaims({ aud: ['crm', agreed.audience] }));
      const claims = await site.siteTokens.verify(token);
      expect(await site.siteTokens.verify(token)).toEqual(claims);
      const text = 'x'.repeat(200);
      const email = `ada@${`${'x'.repeat(60)}.`.repeat(5).slice(0, 250)}`;
      expect(await verified({ jti: text, name: text, team: text, email })).toMatchObject({
        tokenId: text,
        name: text,
        team: text,
        email,
      });
    });

    const long = 'x'.repeat(255);
    it.each<[string, Claims]>([
      ['another issuer', { iss: 'https://shop.example.evil.example' }],
      ['no issuer', { iss: undefined }],
      ['another audience', { aud: 'crm' }],
      ['no audience', { aud: undefined }],
      ['an expiry a second ago', { exp: inSeconds(-1) }],
      ['no expiry', { exp: undefined }],
      ['an expiry in words', { exp: String(inSeconds(300)) }],
      ['an expiry after all dates', { exp: 1e13 }],
      ['a beginning in the future', { nbf: inSeconds(60) }],
      ['no id', { jti: undefined }],
      ['an empty id', { jti: '' }],
      ['an id that is no text', { jti: 7 }],
      ['an over-long id', { jti: long }],
      ['a NUL in its id', { jti: 'a\0b' }],
      ['no e-mail', { email: undefined }],
      ['an empty e-mail', { email: '' }],
      ['an e-mail that is no text', { email: ['ada@example.com'] }],
      ['an over-long e-mail', { email: `${long}@example.com` }],
      ['a name that is no text', { name: { first: 'Ada' } }],
      ['an over-long name', { name: long }],
      ['a team that is no text', { team: 7 }],
      ['an over-long team', { team: long }],
    ])('refuses a token with %s', async (_, over) => {
      expect(await outcome(site.signed(someClaims(over)))).toBe('invalid');
    });

    it('refuses a token that the site did not sign, whoever else did', async () => {
      const tokens = site.forged(someClaims());
      const outcomes = await Promise.all(Object.values(tokens).map(outcome));
      expect(Object.keys(tokens).map((how, place) => [how, outcomes[place]])).toEqual(
        Object.keys(tokens).map((how) => [how, 'invalid']),
      );
      expect(outcomes.length).toBeGreaterThan(3);
    });

    it('refuses a token of which anything was changed', async () => {
      const [header, payload, signature] = site.signed(someClaims()).split('.') as [string, string, string];
      const [, promoted] = site.signed(someClaims({ email: 'eve@example.com' })).split('.') as [string, string];
      for (const token of [
        `${header}.${promoted}.${signature}`,
        `${header}.${payload}.`,
        `${header}.${payload}`,
        `${header}.${payload}.${signature.slice(0, -4)}`,
        `${header}.${payload}.${signature.slice(0, 10)}${signature[10] === 'A' ? 'B' : 'A'}${signature.slice(11)}`,
        `${header}.${payload}.${signature}.`,
        ` ${header}.${payload}.${signature}`,
        `${payload}.${header}.${signature}`,
      ])
        expect(await outcome(token)).toBe('invalid');
    });

    it.each([
      ['nothing', ''],
      ['dots', '..'],
      ['words', 'let me in'],
      ['with a NUL', 'a.b\0.c'],
      ['JSON', '{"alg":"HS256"}'],
      ['a header that names no algorithm', `${Buffer.from('{}').toString('base64url')}.e30.AAAA`],
      ['a megabyte that has the form', `${'x'.repeat(300_000)}.${'y'.repeat(400_000)}.${'z'.repeat(300_000)}`],
    ])('refuses text that is no token: %s', async (_, text) => {
      expect(await outcome(text)).toBe('invalid');
    });
  });
}
