import bcrypt from 'bcrypt';
import { HashingBusy } from '../../../src/domain/accounts/errors.js';
import { BcryptPasswordHasher, CommonPasswordBlocklist } from '../../../src/infrastructure/crypto/passwords.js';
import { BaseUrlPageLinks } from '../../../src/interfaces/web/page-links.js';
import { atOnce } from '../../support/barrier.js';

describe('PageLinks of the service’s own pages', () => {
  it.each(['http://127.0.0.1:8080', 'https://tenon.example', 'https://example.com/models/tenon', 'http://[::1]:80'])(
    'are below the service’s base URL: %s',
    (baseUrl) => {
      const links = new BaseUrlPageLinks({ baseUrl });
      expect(links.verifyEmail('tnv_abc')).toBe(`${baseUrl}/verify-email?token=tnv_abc`);
      expect(links.resetPassword('tnr_abc')).toBe(`${baseUrl}/reset-password?token=tnr_abc`);
      expect(links.alerts()).toBe(`${baseUrl}/v1/alerts`);
      expect(links.alert('alr_abc')).toBe(`${baseUrl}/v1/alerts/alr_abc`);
      expect(links.ownAccount()).toBe(`${baseUrl}/v1/auth/me`);
    },
  );

  it.each(['@evil.example/', '../..//evil.example', '&a=b#c', 'tnv_ä ö%20+', '//evil.example', '"><script>'])(
    'contain the token unchanged and lead to no other page: %s',
    (token) => {
      const links = new BaseUrlPageLinks({ baseUrl: 'https://tenon.example/below' });
      for (const [link, page] of [
        [new URL(links.verifyEmail(token)), 'verify-email'],
        [new URL(links.resetPassword(token)), 'reset-password'],
      ] as const) {
        expect(link.origin + link.pathname + link.hash).toBe(`https://tenon.example/below/${page}`);
        expect([...link.searchParams]).toEqual([['token', token]]);
      }
    },
  );

  it('use the base URL that is set after the start', () => {
    const address = { baseUrl: '' };
    const links = new BaseUrlPageLinks(address);
    address.baseUrl = 'http://127.0.0.1:49152';
    expect(links.verifyEmail('tnv_abc')).toBe('http://127.0.0.1:49152/verify-email?token=tnv_abc');
  });
});

describe('PasswordBlocklist of common passwords', () => {
  const common = ['password', 'PASSWORD1', '12345678', 'Qwertyuiop', 'iloveyou', 'Letmein1', 'sunshine', 'football'];

  it.each(common)('includes a common password in any letter case: %s', (password) => {
    expect(new CommonPasswordBlocklist(true).include(password)).toBe(true);
  });

  it.each([
    ['a random one', 'gT7#kq0Zr!w2'],
    ['several words', 'correct horse battery staple'],
    ['an empty one', ''],
    ['another script', 'пёстрый-дятел-42'],
    ['a common password within others', 'password of the duke of Ålesund'],
    ['a common password and a space', 'password '],
    ['80,000 characters', 'password'.repeat(10_000)],
    ['the name of a property of all objects, twice', 'constructor'.repeat(2)],
    ['the name of an inherited property', '__proto__'],
  ])('does not include other passwords: %s', (_, password) => {
    expect(new CommonPasswordBlocklist(true).include(password)).toBe(false);
  });

  it('includes nothing if the service does not refuse common passwords', () => {
    const passwords = new CommonPasswordBlocklist(false);
    for (const password of [...common, '', 'gT7#kq0Zr!w2']) expect(passwords.include(password)).toBe(false);
  });
});

const COST = 4;

/** The number of calls that a hasher accepts at once. */
const MOST = 2 + 64;

describe('PasswordHasher of bcrypt', () => {
  const hasher = new BcryptPasswordHasher(COST);
  afterEach(() => jest.restoreAllMocks());

  it('matches a password with its hash, also with another hasher', async () => {
    const hash = await hasher.hash('correct horse');
    expect(await hasher.matches('correct horse', hash)).toBe(true);
    expect(await new BcryptPasswordHasher(COST).matches('correct horse', hash)).toBe(true);
  });

  it('makes a different hash each time, which does not contain the password', async () => {
    const [one, two] = [await hasher.hash('correct horse'), await hasher.hash('correct horse')];
    expect(one).not.toContain('correct horse');
    expect(two).not.toBe(one);
    expect(await hasher.matches('correct horse', two)).toBe(true);
  });

  it('matches no other password', async () => {
    const hash = await hasher.hash('correct horse');
    for (const other of ['', 'correct hors', 'correct horse ', 'Correct horse', 'correct horse\0'])
      expect(await hasher.matches(other, hash)).toBe(false);
  });

  it.each([
    ['at the end of a long password', `${'x'.repeat(127)}a`, `${'x'.repeat(127)}b`],
    ['right after the 72nd byte', `${'x'.repeat(72)}a`, 'x'.repeat(72)],
    ['after characters of several bytes', `${'🦆'.repeat(40)}a`, `${'🦆'.repeat(40)}b`],
    ['after a NUL', 'correct\0horse', 'correct\0house'],
    ['beyond ASCII', 'pässword', 'pâssword'],
  ])('uses every character of a password: %s', async (_, password, other) => {
    const hash = await hasher.hash(password);
    expect(await hasher.matches(password, hash)).toBe(true);
    expect(await hasher.matches(other, hash)).toBe(false);
  });

  it('never matches a missing hash', async () => {
    for (const password of ['', 'null', 'correct horse']) expect(await hasher.matches(password, null)).toBe(false);
  });

  it('refuses calls beyond its limit, and completes the accepted ones', async () => {
    // The second round proves that the first left no call behind.
    for (let time = 0; time < 2; time++) {
      const outcomes = await atOnce(MOST + 3, (party) =>
        (party % 2 ? hasher.hash('x') : hasher.matches('x', null)).catch((error: unknown) => error),
      );
      expect(outcomes.filter((outcome) => outcome instanceof HashingBusy)).toHaveLength(3);
    }
  });

  it('uses the configured cost', async () => {
    expect(await new BcryptPasswordHasher(5).hash('x')).toMatch(/^\$2b\$05\$/);
  });

  it.each([
    ['first', 0],
    ['second', 1],
  ])('does the same work for a missing hash as for a hash, at the %s call', async (_, earlier) => {
    const existing = await new BcryptPasswordHasher(COST).hash('correct horse');
    const [compare, make] = [jest.spyOn(bcrypt, 'compare'), jest.spyOn(bcrypt, 'hash')];
    const workFor = async (hash: string | null) => {
      const hasher = new BcryptPasswordHasher(COST);
      for (let call = 0; call < earlier; call++) await hasher.matches('x', existing);
      jest.clearAllMocks();
      await hasher.matches('x', hash);
      const compared = compare.mock.calls.map(([data, against]) => [String(data).length, String(against).slice(0, 7)]);
      return { compared, made: make.mock.calls.map(([, cost]) => cost) };
    };
    const work = await workFor(existing);
    expect(work.compared).toEqual([[44, '$2b$04$']]);
    expect(await workFor(null)).toEqual(work);
  });

  it('matches hashes that were made at another cost', async () => {
    const hash = await new BcryptPasswordHasher(5).hash('correct horse');
    expect(await new BcryptPasswordHasher(COST).matches('correct horse', hash)).toBe(true);
  });
});
