import type { TokenKind } from '../../../src/application/accounts/ports.js';
import type { IdKind } from '../../../src/application/shared/id-kind.js';
import { CheckedTokens } from '../../../src/infrastructure/crypto/secrets.js';
import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import {
  AsyncRequestContext,
  NodeProcess,
  SystemChance,
  SystemClock,
  UuidIdGenerator,
} from '../../../src/infrastructure/system/adapters.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { atOnce, barrier } from '../../support/barrier.js';

describe.each([
  ['the system', new SystemClock(), () => Date.now()],
  ['a test', new ManualClock(new Date(1_000)), () => 1_000],
])('Clock of %s', (_, clock, time) => {
  it('returns the time as a fresh object', () => {
    const before = time();
    const now = clock.now();
    expect(now.getTime()).toBeGreaterThanOrEqual(before);
    expect(now.getTime()).toBeLessThanOrEqual(time());
    now.setFullYear(1815);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(before);
  });

  it('pauses for the given time, and not at all if its signal is aborted already', async () => {
    const before = clock.now().getTime();
    await clock.pause(5, new AbortController().signal);
    expect(clock.now().getTime()).toBeGreaterThanOrEqual(before + 4); // a timer may end up to a millisecond early
    const reason = new Error('enough');
    await expect(clock.pause(1_000_000, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('Clock of the system', () => {
  it('ends a pause when its signal is aborted', async () => {
    const reason = new Error('enough');
    const abort = new AbortController();
    const paused = new SystemClock().pause(1_000_000, abort.signal);
    abort.abort(reason);
    await expect(paused).rejects.toBe(reason);
  });
});

describe('Chance of the system', () => {
  it('draws numbers from 0 to below 1, in all parts of this range', () => {
    const drawn = Array.from({ length: 1_000 }, () => new SystemChance().draw());
    expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true);
    expect(new Set(drawn.map((number) => Math.floor(10 * number))).size).toBe(10);
  });
});

describe('RequestContext of Node', () => {
  it('is the request of the running code, also after an await, and null outside a request', async () => {
    const request = new AsyncRequestContext();
    expect(request.id).toBeNull();
    const allHaveBegun = barrier(3);
    const seen = await atOnce(3, (party) =>
      request.within(`r${party}`, async () => {
        const before = request.id;
        await allHaveBegun();
        return [before, request.id];
      }),
    );
    expect(seen).toEqual(['r0', 'r1', 'r2'].map((id) => [id, id]));
    expect(request.id).toBeNull();
  });
});

const ID_KINDS = 'usr tea ses key ver msg prj mdl cnv dst dep job rul alr whk inv aud req call chatcmpl'.split(
  ' ',
) as IdKind[];
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns a generator that shares no state with the others, as in another process. */
function generatorOfAnotherProcess(): UuidIdGenerator {
  let Generator = UuidIdGenerator;
  jest.isolateModules(() => {
    ({ UuidIdGenerator: Generator } = require('../../../src/infrastructure/system/adapters.js'));
  });
  return new Generator();
}

describe('IdGenerator by the uuid package', () => {
  afterEach(() => jest.restoreAllMocks());

  it('returns the kind followed by a UUIDv7', () => {
    const generator = new UuidIdGenerator();
    for (const kind of ID_KINDS) {
      const prefix = kind === 'chatcmpl' ? 'chatcmpl-' : `${kind}_`;
      const id = generator.next(kind);
      expect(id.slice(0, prefix.length)).toBe(prefix);
      expect(id.slice(prefix.length)).toMatch(UUID_V7);
    }
  });

  it('never returns an id twice, also not in several processes', () => {
    const processes = [generatorOfAnotherProcess(), generatorOfAnotherProcess(), generatorOfAnotherProcess()];
    const ids = Array.from({ length: 3_000 }, (_, n) => processes[n % 3]?.next('usr'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('returns ids in ascending text order, also when the clock is set back', () => {
    const generator = new UuidIdGenerator();
    const ids = Array.from({ length: 2_000 }, () => generator.next('prj'));
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 60_000);
    for (let n = 0; n < 100; n++) ids.push(generator.next('prj'));
    jest.restoreAllMocks();
    ids.push(generator.next('prj'));
    expect([...ids].sort()).toEqual(ids);
  });
});

describe('ContentHasher by node:crypto', () => {
  const hashOf = (parts: Iterable<string>) => {
    const digest = new Sha256ContentHasher().begin();
    for (const part of parts) digest.add(part);
    return digest.end();
  };

  it.each([
    ['nothing', [], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['plain text', ['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['text beyond ASCII', ['Grüße 🦆'], '81e514547f985323adf7608497016a51f94aedba793b416ed60b2f4fd5a5e1d2'],
    ['a million letters', ['a'.repeat(1e6)], 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('is SHA-256: %s', (_, parts, digest) => {
    expect(hashOf(parts)).toBe(digest);
  });

  it('hashes the joined parts: their boundaries do not matter', () => {
    const whole = 'ä'.repeat(300_000);
    const digest = hashOf([whole]);
    expect(hashOf(['', whole.slice(0, 100_001), '', whole.slice(100_001)])).toBe(digest);
    expect(hashOf(whole)).toBe(digest);
    expect(hashOf([whole, 'x'])).not.toBe(digest);
  });

  it('makes a short text of any text, another one for each', () => {
    const hasher = new Sha256ContentHasher();
    const shorts = ['', 'a', 'b', 'x'.repeat(100_000)].map((text) => hasher.short(text));
    expect(new Set(shorts).size).toBe(4);
    expect(Math.max(...shorts.map(({ length }) => length))).toBeLessThan(50);
    expect(hasher.short('a')).toBe(shorts[1]);
  });
});

const TOKEN_PREFIXES: Record<TokenKind, string> = {
  session: 'tns_',
  api_key: 'tnk_',
  verification: 'tnv_',
  reset: 'tnr_',
  invite: 'tni_',
};
const CHECKSUM_CHARACTERS = 6;

describe('SecretTokens by CheckedTokens', () => {
  const tokens = new CheckedTokens();

  it.each(Object.entries(TOKEN_PREFIXES) as [TokenKind, string][])(
    'are read into their kind and digest: %s',
    (kind, prefix) => {
      const { token, digest, hint } = tokens.issue(kind);
      expect(token).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]+$`));
      expect(new CheckedTokens().read(token)).toEqual({ kind, digest });
      const [shownPrefix, end = ''] = hint.split('…');
      expect(shownPrefix).toBe(prefix);
      expect(end).toBe(token.slice(-4));
      expect(tokens.read(hint)).toBeNull();
      const others = [...Object.values(TOKEN_PREFIXES), 'tnx_', 'TNS_', ''].filter((other) => other !== prefix);
      for (const other of others) expect(tokens.read(other + token.slice(prefix.length))).toBeNull();
    },
  );

  it('have at least 256 random bits', () => {
    const issued = Array.from({ length: 2_000 }, () => tokens.issue('session').token.slice(4));
    expect(new Set(issued).size).toBe(issued.length);
    const secrets = issued.map((one) => one.slice(0, -CHECKSUM_CHARACTERS));
    const length = Math.min(...secrets.map((secret) => secret.length));
    expect(length * Math.log2(62)).toBeGreaterThan(256);
    for (let place = 1; place < length; place++) expect(new Set(secrets.map((secret) => secret[place])).size).toBe(62);
  });

  it('have digests that reveal no part of the token', () => {
    const { token, digest } = tokens.issue('api_key');
    expect(digest.length).toBeGreaterThanOrEqual(43);
    const forms = [digest, ...(['hex', 'base64'] as const).map((form) => Buffer.from(digest, form).toString('latin1'))];
    for (let start = 0; start + 8 <= token.length; start++)
      for (const form of forms) expect(form).not.toContain(token.slice(start, start + 8));
    expect(tokens.read(digest)).toBeNull();
    expect(tokens.issue('api_key').digest).not.toBe(digest);
  });

  it('are distinguished from any other text', () => {
    const { token } = tokens.issue('session');
    for (let place = 0; place < token.length; place++)
      for (const other of ['0', 'A', 'z', '_', ' ', 'é'].filter((one) => one !== token[place]))
        expect(tokens.read(token.slice(0, place) + other + token.slice(place + 1))).toBeNull();
    const more = [`${token}0`, `0${token}`, ` ${token}`, `${token} `, `${token}\n`, `${token}\0`, token + token];
    const less = [token.slice(0, -1), token.slice(1), 'tns_', ''];
    const otherwise = [token.toUpperCase(), `Bearer ${token}`, encodeURIComponent(`${token}=`), 'x'.repeat(100_000)];
    for (const text of [...more, ...less, ...otherwise]) expect(tokens.read(text)).toBeNull();
  });
});

describe('ServiceProcess of Node.js', () => {
  it('returns the version that it was given, and the memory of the process', () => {
    const own = new NodeProcess('1.2.3');
    expect(own.version).toBe('1.2.3');
    const before = own.memoryBytes();
    const block = Buffer.alloc(64 * 1024 ** 2, 1);
    expect(own.memoryBytes() - before).toBeGreaterThan(block.length / 2);
  });
});
