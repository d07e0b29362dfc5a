import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { SiteTokenInvalid } from '../../../src/domain/accounts/errors.js';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { JoseSiteTokenVerifier } from '../../../src/infrastructure/crypto/jose-site-token-verifier.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { within } from '../../support/until.js';
import { agreed, type Claims, inSeconds, siteTokensContract, someClaims } from './site-tokens.contract.js';

const SECRET = 'a secret of site and service, long enough';
const nowhere = { secret: null, jwksFile: null, jwksUrl: null, ...agreed };

const rsa = (bits = 2048) => generateKeyPairSync('rsa', { modulusLength: bits });
const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
type Pair = ReturnType<typeof rsa>;
const [rsaPair, ecPair, otherRsa, otherEc] = [rsa(), ec(), rsa(), ec()];

const jwk = ({ publicKey }: Pair, more: object) => ({ ...publicKey.export({ format: 'jwk' }), ...more });
const keySet = { keys: [jwk(rsaPair, { kid: 'r', use: 'sig' }), jwk(ecPair, { kid: 'e', alg: 'ES256' })] };

/** Signs by hand, so that the library is not tested against itself. */
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
      'another key that says nothing': byPair(alg, other, claims),
      'another key, sent along': byPair(alg, other, claims, { jwk: jwk(other, {}) }),
      'another key, sent along under a true name': byPair(alg, other, claims, { kid, jwk: jwk(other, { kid }) }),
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
    it('asks for the keys once, for however many tokens', async () => {
      const tokens = fromUrl();
      await Promise.all([tokens.verify(own()), tokens.verify(own())]);
      await tokens.verify(own());
      expect(asked).toBe(1);
    });

    it('asks for no keys for what can be no token of the site', async () => {
      const tokens = fromUrl();
      for (const one of ['garbage', bySecret('x', someClaims()), ...Object.values(none(someClaims()))])
        expect((await outcome(tokens, one)).error).toBeInstanceOf(SiteTokenInvalid);
      expect(asked).toBe(0);
    });

    it.each<[string, () => void]>([
      ['answers 500', () => answers(500, JSON.stringify(keySet))],
      [
        'leads elsewhere',
        () => (answer = (_, to) => void to.writeHead(302, { Location: 'https://evil.example' }).end()),
      ],
      ['answers with no JSON', () => answers(200, '<html>')],
      ['answers with a key that is none', () => answers(200, '{"keys":[{"kty":"RSA","kid":"r","n":"AA","e":"A"}]}')],
      ['answers with a weak key', () => answers(200, JSON.stringify({ keys: [jwk(rsa(1024), { kid: 'r' })] }))],
      ['hangs up', () => (answer = ({ socket }) => void socket.destroy())],
      ['never answers', () => (answer = () => {})],
      ['never finishes', () => (answer = (_, to) => void to.writeHead(200).write('{"keys":['))],
    ])('does not blame the token where the URL %s', async (_, breakDown) => {
      const tokens = fromUrl();
      breakDown();
      const { error, inTime } = await outcome(tokens);
      expect(error).toBeInstanceOf(StorageUnavailable);
      expect(inTime).toBe(true);
    });

    it('recovers when the URL does', async () => {
      const tokens = fromUrl();
      answers(500, '');
      expect((await outcome(tokens)).error).toBeInstanceOf(StorageUnavailable);
      answers(200, JSON.stringify(keySet));
      expect((await outcome(tokens)).error).toBeNull();
    });

    it('takes a token that does not say which key, where one of several holds', async () => {
      const tokens = fromFile({ keys: [jwk(otherRsa, { kid: 'old' }), ...keySet.keys] });
      expect((await outcome(tokens, byPair('RS256', rsaPair, someClaims()))).error).toBeNull();
      for (const one of [
        byPair('RS256', rsa(), someClaims()),
        byPair('RS256', rsaPair, someClaims({ exp: inSeconds(-5) })),
      ])
        expect((await outcome(tokens, one)).error).toBeInstanceOf(SiteTokenInvalid);
    });

    it('says at the start that the file of keys is missing or no key set', () => {
      const missing = join(folder.path, 'missing.json');
      expect(() => new JoseSiteTokenVerifier({ ...nowhere, jwksFile: missing })).toThrow(/ENOENT/);
      for (const set of ['', '{', '[]', '{"keys":7}']) expect(() => fromFile(set)).toThrow();
    });

    it('is switched off, and believes nothing, where no site is set up', async () => {
      const tokens = new JoseSiteTokenVerifier(null);
      expect(tokens.enabled).toBe(false);
      for (const one of [own(), '']) expect((await outcome(tokens, one)).error).toBeInstanceOf(SiteTokenInvalid);
    });
  });
});
