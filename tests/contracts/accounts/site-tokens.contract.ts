import type { SiteTokenVerifier } from '../../../src/application/accounts/ports.js';
import { SiteTokenInvalid } from '../../../src/domain/accounts/errors.js';

export type Claims = Readonly<Record<string, unknown>>;

export interface SiteTokensUnderTest {
  readonly siteTokens: SiteTokenVerifier;
  /** A token of these claims that the site signs. */
  signed(claims: Claims): string;
  /** Tokens of these claims that the site did not sign, or not like that, by how they came to be. */
  forged(claims: Claims): Readonly<Record<string, string>>;
}

/** What the site and the service have agreed on. */
export const agreed = { issuer: 'https://shop.example', audience: 'tenon' } as const;

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** Those of a token that holds; undefined leaves one out. */
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

    it('is set up', () => {
      expect(site.siteTokens.enabled).toBe(true);
    });

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
      ['an issuer that only looks alike', { iss: 'https://shop.example/' }],
      ['no issuer', { iss: undefined }],
      ['a list of issuers', { iss: [agreed.issuer] }],
      ['another audience', { aud: 'crm' }],
      ['other audiences', { aud: ['crm', 'Tenon'] }],
      ['no audience', { aud: undefined }],
      ['an empty list of audiences', { aud: [] }],
      ['an expiry a second ago', { exp: inSeconds(-1) }],
      ['an expiry long ago', { exp: inSeconds(-1_000_000) }],
      ['an expiry before all time', { exp: -1 }],
      ['no expiry', { exp: undefined }],
      ['no expiry but null', { exp: null }],
      ['an expiry in words', { exp: String(inSeconds(300)) }],
      ['an expiry after all dates', { exp: 1e13 }],
      ['an expiry beyond measure', { exp: 1e300 }],
      ['a beginning in the future', { nbf: inSeconds(60) }],
      ['a beginning in words', { nbf: 'now' }],
      ['no id', { jti: undefined }],
      ['no id but null', { jti: null }],
      ['an empty id', { jti: '' }],
      ['an id that is no text', { jti: 7 }],
      ['an over-long id', { jti: long }],
      ['a NUL in its id', { jti: 'a\0b' }],
      ['half a character in its id', { jti: 'a\ud83e' }],
      ['no e-mail', { email: undefined }],
      ['no e-mail but null', { email: null }],
      ['an empty e-mail', { email: '' }],
      ['an e-mail that is no text', { email: ['ada@example.com'] }],
      ['an over-long e-mail', { email: `${long}@example.com` }],
      ['a NUL in its e-mail', { email: 'ada\0@example.com' }],
      ['a name that is no text', { name: { first: 'Ada' } }],
      ['an over-long name', { name: long }],
      ['a NUL in its name', { name: 'Ada\0' }],
      ['a team that is no text', { team: 7 }],
      ['an over-long team', { team: long }],
      ['a NUL in its team', { team: '\0' }],
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
      ['very many dots', '.'.repeat(100_000)],
      ['words', 'let me in'],
      ['beyond ASCII', 'ä.🦆.\ud83e'],
      ['with a NUL', 'a.b\0.c'],
      ['JSON', '{"alg":"HS256"}'],
      ['a header that is a list', `${Buffer.from('[]').toString('base64url')}.e30.AAAA`],
      ['a header that names no algorithm', `${Buffer.from('{}').toString('base64url')}.e30.AAAA`],
      ['a megabyte', 'x'.repeat(1_000_000)],
      ['a megabyte that has the form', `${'x'.repeat(300_000)}.${'y'.repeat(400_000)}.${'z'.repeat(300_000)}`],
    ])('refuses text that is no token: %s', async (_, text) => {
      expect(await outcome(text)).toBe('invalid');
    });

    it('refuses a megabyte behind a true header, and is quick about it', async () => {
      const [header, payload, signature] = site.signed(someClaims()).split('.') as [string, string, string];
      const begun = process.cpuUsage();
      for (const token of [
        `${header}.${'y'.repeat(1_000_000)}.${signature}`,
        `${header}.${payload}.${'z'.repeat(1_000_000)}`,
      ])
        expect(await outcome(token)).toBe('invalid');
      expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
    });
  });
}
