import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { SiteTokenVerifier } from '../../../src/application/accounts/ports.js';
import { SiteTokenInvalid } from '../../../src/domain/accounts/errors.js';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { JoseSiteTokenVerifier } from '../../../src/infrastructure/crypto/jose-site-token-verifier.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { within } from '../../support/until.js';

type Claims = Readonly<Record<string, unknown>>;

interface SiteTokensUnderTest {
  readonly siteTokens: SiteTokenVerifier;
  /** Returns a token with these claims that the site signed. */
  signed(claims: Claims): string;
  /** Returns forged tokens with these claims. The keys say how they were forged. */
  forged(claims: Claims): Readonly<Record<string, string>>;
}

/** The settings that site and service share. */
const agreed = { issuer: 'https://shop.example', audience: 'tenon' } as const;

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** Returns the claims of a valid token. A claim that is undefined is left out. */
const someClaims = (over: Claims = {}): Claims => ({
  iss: agreed.issuer,
  aud: agreed.audience,
  exp: inSeconds(300),
  jti: 'a token',
  email: 'ada@example.com',
  ...over,
});

function siteTokensContract(adapter: string, open: () => SiteTokensUnderTest) {
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

    it('returns the claims of a token that the site signed', async () => {
      const exp = inSeconds(60);
      const texts = { email: 'Ada.Müller@Example.COM', name: 'Ada “🦆” 王', team: 'Team 7' };
      const others = { exp, iat: inSeconds(-1), nbf: inSeconds(-1), more: { of: 'it' } };
      const claims = await verified({ ...texts, email_verified: true, jti: 'x', ...others });
      expect(claims).toEqual({ ...texts, emailVerified: true, tokenId: 'x', expiresAt: new Date(exp * 1000) });
    });

    it('reads a missing or empty name or team as null, and only `true` as a verified e-mail', async () => {
      for (const nothing of [undefined, null, '']) {
        const claims = await verified({ name: nothing, team: nothing });
        expect(claims).toMatchObject({ emailVerified: null, name: null, team: null });
      }
      for (const value of [false, 'true', 1, {}])
        expect(await verified({ email_verified: value })).toMatchObject({ emailVerified: false });
    });

    it('accepts a token with several audiences, with the longest texts, and a second time', async () => {
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
      ['an expiry as text', { exp: String(inSeconds(300)) }],
      ['an expiry beyond the last date', { exp: 1e13 }],
      ['a start in the future', { nbf: inSeconds(60) }],
      ['no id', { jti: undefined }],
      ['an empty id', { jti: '' }],
      ['an id that is not a text', { jti: 7 }],
      ['an over-long id', { jti: long }],
      ['a NUL in its id', { jti: 'a\0b' }],
      ['no e-mail', { email: undefined }],
      ['an empty e-mail', { email: '' }],
      ['an e-mail that is not a text', { email: ['ada@example.com'] }],
      ['an over-long e-mail', { email: `${long}@example.com` }],
      ['a name that is not a text', { name: { first: 'Ada' } }],
      ['an over-long name', { name: long }],
      ['a team that is not a text', { team: 7 }],
      ['an over-long team', { team: long }],
    ])('refuses a token with %s', async (_, over) => {
      expect(await outcome(site.signed(someClaims(over)))).toBe('invalid');
    });

    it('refuses a token that the site did not sign', async () => {
      const tokens = site.forged(someClaims());
      for (const [how, token] of Object.entries(tokens)) expect([how, await outcome(token)]).toEqual([how, 'invalid']);
    });

    it('refuses a token if any part was changed', async () => {
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

    it('refuses text that is not a token', async () => {
      const unnamed = `${Buffer.from('{}').toString('base64url')}.e30.AAAA`;
      const long = `${'x'.repeat(300_000)}.${'y'.repeat(400_000)}.${'z'.repeat(300_000)}`;
      for (const text of ['', '..', 'let me in', 'a.b\0.c', '{"alg":"HS256"}', unnamed, long])
        expect(await outcome(text)).toBe('invalid');
    });
  });
}

const SECRET = 'a secret of site and service, long enough';
const nowhere = { secret: null, jwksFile: null, jwksUrl: null, ...agreed };

const rsa = (bits = 2048) => generateKeyPairSync('rsa', { modulusLength: bits });
const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
type Pair = ReturnType<typeof rsa>;
const [rsaPair, ecPair, otherRsa, otherEc, weakRsa] = [rsa(), ec(), rsa(), ec(), rsa(1024)];

const jwk = ({ publicKey }: Pair, more: object) => ({ ...publicKey.export({ format: 'jwk' }), ...more });
const keySet = { keys: [jwk(rsaPair, { kid: 'r', use: 'sig' }), jwk(ecPair, { kid: 'e', alg: 'ES256' })] };

/** Signs without the library, so that the library is not tested against itself. */
function token(header: Claims, claims: Claims, signer: (text: Buffer) => Buffer): string {
  const [head, body] = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${head}.${body}.${signer(Buffer.from(`${head}.${body}`)).toString('base64url')}`;
}
const byHmac = (secret: string | Buffer, hash: string) => (text: Buffer) =>
  createHmac(hash, secret).update(text).digest();
const byKey = (key: KeyObject, hash: string) => (text: Buffer) => sign(hash, text, { key, dsaEncoding: 'ieee-p1363' });
const unsigned = () => Buffer.alloc(0);

const none = (claims: Claims) => ({
  'alg: none': token({ alg: 'none' }, claims, unsigned),
  'alg: None': token({ alg: 'None', typ: 'JWT' }, claims, unsigned),
});

const bySecret = (secret: string | Buffer, claims: Claims, alg = 'HS256') =>
  token({ alg, typ: 'JWT' }, claims, byHmac(secret, `sha${alg.slice(2)}`));
const byPair = (alg: 'RS256' | 'ES256', { privateKey }: Pair, claims: Claims, more: Claims = {}) =>
  token({ alg, typ: 'JWT', ...more }, claims, byKey(privateKey, 'sha256'));

siteTokensContract('jose, with a secret (HS256)', () => ({
  siteTokens: new JoseSiteTokenVerifier({ ...nowhere, secret: SECRET }),
  signed: (claims) => bySecret(SECRET, claims),
  forged: (claims) => ({
    ...none(claims),
    'another secret': bySecret(`${SECRET} `, claims),
    'no secret': bySecret('', claims),
    HS512: bySecret(SECRET, claims, 'HS512'),
    RS256: byPair('RS256', otherRsa, claims),
    'HS256 by name only': token({ alg: 'HS256' }, claims, byKey(otherRsa.privateKey, 'sha256')),
  }),
}));

const kids = { RS256: 'r', ES256: 'e' } as const;
const ownPairs = { RS256: rsaPair, ES256: ecPair } as const;
const otherPairs = { RS256: otherRsa, ES256: otherEc } as const;

const byKeySet = (alg: 'RS256' | 'ES256', siteTokens: JoseSiteTokenVerifier) => ({
  siteTokens,
  signed: (claims: Claims) => byPair(alg, ownPairs[alg], claims, { kid: kids[alg] }),
  forged: (claims: Claims) => {
    const [own, other, kid] = [ownPairs[alg], otherPairs[alg], kids[alg]];
    const asJwk = JSON.stringify(jwk(own, {}));
    const pem = (type: 'spki' | 'pkcs1') => rsaPair.publicKey.export({ type, format: 'pem' });
    return {
      ...none(claims),
      'another key': byPair(alg, other, claims, { kid }),
      'another key without key id': byPair(alg, other, claims),
      'another key, sent in the header': byPair(alg, other, claims, { jwk: jwk(other, {}) }),
      'another key, sent in the header with a true key id': byPair(alg, other, claims, {
        kid,
        jwk: jwk(other, { kid }),
      }),
      'another key, at a URL': byPair(alg, other, claims, { kid, jku: 'https://evil.example/keys' }),
      'an unknown key': byPair(alg, own, claims, { kid: 'x' }),
      'the key for the other algorithm': byPair(alg, own, claims, { kid: alg === 'RS256' ? 'e' : 'r' }),
      'an unknown extension': byPair(alg, own, claims, { kid, crit: ['b64'], b64: false }),
      'HS256 with the public key as PEM': bySecret(pem('spki'), claims),
      'HS256 with the public key as PKCS #1': bySecret(pem('pkcs1'), claims),
      'HS256 with the public key as JWK': bySecret(asJwk, claims),
      RS512: token({ alg: 'RS512', kid: 'r' }, claims, byKey(rsaPair.privateKey, 'sha512')),
    };
  },
});

describe('With a key set', () => {
  const folder = new TemporaryFolder();
  let server: Server;
  let answer: RequestListener;
  let asked: number;

  const answers = (status: number, body: string) => {
    answer = (_, response) => void response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  };
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const fromUrl = () => new JoseSiteTokenVerifier({ ...nowhere, jwksUrl: url() });
  const fromFile = (set: unknown) => {
    const jwksFile = join(folder.path, 'keys.json');
    writeFileSync(jwksFile, typeof set === 'string' ? set : JSON.stringify(set));
    return new JoseSiteTokenVerifier({ ...nowhere, jwksFile });
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked++;
      answer(request, response);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  beforeEach(() => {
    asked = 0;
    answers(200, JSON.stringify(keySet));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    folder.remove();
  });

  siteTokensContract('jose, with a key set from a file (RS256)', () => byKeySet('RS256', fromFile(keySet)));
  siteTokensContract('jose, with a key set from a URL (ES256)', () => byKeySet('ES256', fromUrl()));

  const own = () => byPair('RS256', rsaPair, someClaims(), { kid: 'r' });
  const outcome = async (tokens: JoseSiteTokenVerifier, one = own()) => {
    let error: unknown = null;
    const verified = async () => {
      await tokens.verify(one).catch((thrown: unknown) => {
        error = thrown;
      });
    };
    const inTime = await within(4_000, verified);
    return { error, inTime };
  };

  describe('SiteTokenVerifier of jose', () => {
    it('fetches the keys once for several tokens', async () => {
      const tokens = fromUrl();
      await Promise.all([tokens.verify(own()), tokens.verify(own())]);
      await tokens.verify(own());
      expect(asked).toBe(1);
    });

    it('fetches no keys for a text that cannot be a token of the site', async () => {
      const tokens = fromUrl();
      for (const one of ['garbage', bySecret('x', someClaims()), ...Object.values(none(someClaims()))])
        expect((await outcome(tokens, one)).error).toBeInstanceOf(SiteTokenInvalid);
      expect(asked).toBe(0);
    });

    it.each<[string, () => void]>([
      ['answers 500', () => answers(500, JSON.stringify(keySet))],
      ['redirects', () => (answer = (_, to) => void to.writeHead(302, { Location: 'https://evil.example' }).end())],
      ['answers without JSON', () => answers(200, '<html>')],
      ['answers with an invalid key', () => answers(200, '{"keys":[{"kty":"RSA","kid":"r","n":"AA","e":"A"}]}')],
      ['answers with a weak key', () => answers(200, JSON.stringify({ keys: [jwk(weakRsa, { kid: 'r' })] }))],
      ['closes the connection', () => (answer = ({ socket }) => void socket.destroy())],
      ['never answers', () => (answer = () => {})],
      ['never ends its answer', () => (answer = (_, to) => void to.writeHead(200).write('{"keys":['))],
    ])('does not call the token invalid if the URL %s', async (_, breakDown) => {
      const tokens = fromUrl();
      breakDown();
      const { error, inTime } = await outcome(tokens);
      expect(error).toBeInstanceOf(StorageUnavailable);
      expect(inTime).toBe(true);
    });

    it('verifies tokens again when the URL works again', async () => {
      const tokens = fromUrl();
      answers(500, '');
      expect((await outcome(tokens)).error).toBeInstanceOf(StorageUnavailable);
      answers(200, JSON.stringify(keySet));
      expect((await outcome(tokens)).error).toBeNull();
    });

    it('accepts a token without key id if one of several keys fits', async () => {
      const tokens = fromFile({ keys: [jwk(otherRsa, { kid: 'old' }), ...keySet.keys] });
      expect((await outcome(tokens, byPair('RS256', rsaPair, someClaims()))).error).toBeNull();
      for (const one of [
        byPair('RS256', weakRsa, someClaims()),
        byPair('RS256', rsaPair, someClaims({ exp: inSeconds(-5) })),
      ])
        expect((await outcome(tokens, one)).error).toBeInstanceOf(SiteTokenInvalid);
    });

    it('throws at the start if the file of keys is missing or not a key set', () => {
      const missing = join(folder.path, 'missing.json');
      expect(() => new JoseSiteTokenVerifier({ ...nowhere, jwksFile: missing })).toThrow(/ENOENT/);
      for (const set of ['', '{', '[]', '{"keys":7}']) expect(() => fromFile(set)).toThrow();
    });

    it('is disabled and refuses every token if no site is set up', async () => {
      const tokens = new JoseSiteTokenVerifier(null);
      expect(tokens.enabled).toBe(false);
      for (const one of [own(), '']) expect((await outcome(tokens, one)).error).toBeInstanceOf(SiteTokenInvalid);
    });
  });
});
