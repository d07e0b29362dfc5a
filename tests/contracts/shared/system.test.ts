import type { IdKind, TokenKind } from '../../../src/application/shared/ports.js';
import { CheckedTokens } from '../../../src/infrastructure/crypto/secrets.js';
import { Sha256ContentHasher } from '../../../src/infrastructure/crypto/sha256-content-hasher.js';
import {
  AsyncRequestContext,
  SystemClock,
  TimedDelay,
  UuidIdGenerator,
} from '../../../src/infrastructure/system/shared-ports.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { atOnce, barrier } from '../../support/barrier.js';

describe('Clock', () => {
  it('of the system tells the time of day', () => {
    const before = Date.now();
    const now = new SystemClock().now().getTime();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('of a test stands still until it is advanced or set', () => {
    const clock = new ManualClock(new Date(1_000));
    clock.advance(1);
    expect(clock.now()).toEqual(new Date(1_001));
    const time = new Date(2_000);
    clock.set(time);
    time.setFullYear(1815);
    expect(clock.now()).toEqual(new Date(2_000));
  });

  it.each([new SystemClock(), new ManualClock()])('gives a fresh value at each call (%#)', (clock) => {
    const [mine, yours] = [clock.now(), clock.now()];
    const told = yours.getTime();
    mine.setFullYear(1815);
    expect(yours.getTime()).toBe(told);
    expect(Math.abs(clock.now().getTime() - told)).toBeLessThan(60_000);
  });
});

describe('Delay of the system', () => {
  const delay = new TimedDelay();

  it('ends after its time, or with the reason of its signal', async () => {
    const never = new AbortController().signal;
    for (const milliseconds of [0, 5]) await delay.take(milliseconds, never);
    const reason = new Error('enough');
    await expect(delay.take(1_000_000, AbortSignal.abort(reason))).rejects.toBe(reason);
    const abort = new AbortController();
    const taken = delay.take(1_000_000, abort.signal);
    abort.abort(reason);
    await expect(taken).rejects.toBe(reason);
  });
});

describe('RequestContext of Node', () => {
  it('is that of the code that runs, also after an await, and none outside', async () => {
    const request = new AsyncRequestContext();
    expect(request.id).toBeNull();
    const allHaveBegun = barrier(3);
    const seen = await atOnce(3, (party) =>
      request.within({ id: `r${party}`, reserve: async () => undefined }, async () => {
        const before = request.id;
        await allHaveBegun();
        return [before, request.id];
      }),
    );
    expect(seen).toEqual(['r0', 'r1', 'r2'].map((id) => [id, id]));
    expect(request.id).toBeNull();
  });

  it('reserves memory of the current request, and none outside', async () => {
    const request = new AsyncRequestContext();
    const reserved: number[] = [];
    const reserve = async (bytes: number) => {
      reserved.push(bytes);
    };
    await request.within({ id: 'r', reserve }, () => request.reserve(7));
    await request.reserve(8);
    expect(reserved).toEqual([7]);
  });
});

const ID_PREFIXES: Record<IdKind, string> = {
  usr: 'usr_',
  tea: 'tea_',
  ses: 'ses_',
  key: 'key_',
  ver: 'ver_',
  msg: 'msg_',
  prj: 'prj_',
  mdl: 'mdl_',
  cnv: 'cnv_',
  dst: 'dst_',
  dep: 'dep_',
  job: 'job_',
  rul: 'rul_',
  alr: 'alr_',
  whk: 'whk_',
  inv: 'inv_',
  aud: 'aud_',
  req: 'req_',
  chatcmpl: 'chatcmpl-',
};
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Has none of the state of this process. */
function ofAnotherProcess(): UuidIdGenerator {
  let Generator = UuidIdGenerator;
  jest.isolateModules(() => {
    ({ UuidIdGenerator: Generator } = require('../../../src/infrastructure/system/shared-ports.js'));
  });
  return new Generator();
}

describe('IdGenerator by the uuid package', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each(Object.entries(ID_PREFIXES))('has the kind %s in front of a UUIDv7: %s', (kind, prefix) => {
    const id = ofAnotherProcess().next(kind as IdKind);
    expect(id.slice(0, prefix.length)).toBe(prefix);
    expect(id.slice(prefix.length)).toMatch(UUID_V7);
  });

  it('carries the time at which it was made', () => {
    const before = Date.now();
    const made = Number.parseInt(ofAnotherProcess().next('usr').slice(4).replaceAll('-', '').slice(0, 12), 16);
    // The last of many ids of one millisecond may carry the next one.
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('gives none twice', () => {
    const processes = [ofAnotherProcess(), ofAnotherProcess(), ofAnotherProcess()];
    const made = Array.from({ length: 30_000 }, (_, n) => processes[n % 3]?.next('usr'));
    expect(new Set(made).size).toBe(made.length);
  });

  it('gives them in the order of their text, also when the clock is set back', () => {
    const generator = new UuidIdGenerator();
    const made = Array.from({ length: 20_000 }, () => generator.next('prj'));
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() - 60_000);
    for (let n = 0; n < 1_000; n++) made.push(generator.next('prj'));
    jest.restoreAllMocks();
    made.push(generator.next('prj'));
    expect([...made].sort()).toEqual(made);
  });
});

describe('ContentHasher by node:crypto', () => {
  it.each([
    ['nothing', [], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['plain text', ['abc'], 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['text beyond ASCII', ['Grüße 🦆'], '81e514547f985323adf7608497016a51f94aedba793b416ed60b2f4fd5a5e1d2'],
    ['a million letters', ['a'.repeat(1e6)], 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
  ])('is SHA-256: %s', async (_, parts, digest) => {
    expect(await new Sha256ContentHasher().hash(parts)).toBe(digest);
  });

  it('is of the parts put together, however they are cut', async () => {
    const whole = 'ä'.repeat(300_000);
    const hasher = new Sha256ContentHasher();
    const digest = await hasher.hash([whole]);
    expect(await hasher.hash(['', whole.slice(0, 100_001), '', whole.slice(100_001)])).toBe(digest);
    expect(await hasher.hash(whole)).toBe(digest);
    expect(await hasher.hash([whole, 'x'])).not.toBe(digest);
  });

  it('lets other work go on meanwhile', async () => {
    let others = 0;
    const working = setInterval(() => others++, 0);
    await new Sha256ContentHasher().hash(Array.from({ length: 500 }, () => 'x'.repeat(10_000)));
    clearInterval(working);
    expect(others).toBeGreaterThan(0);
  });
});

const TOKEN_PREFIXES: Record<TokenKind, string> = {
  session: 'tns_',
  api_key: 'tnk_',
  verification: 'tnv_',
  reset: 'tnr_',
  invite: 'tni_',
};
const CHECKSUM_BITS = 32;
const KINDS = Object.keys(TOKEN_PREFIXES) as TokenKind[];

describe('SecretTokens by CheckedTokens', () => {
  const tokens = new CheckedTokens();

  it.each(KINDS)('begin with the prefix of their kind and are of letters and digits: %s', (kind) => {
    const { token } = tokens.issue(kind);
    expect(token.slice(0, 4)).toBe(TOKEN_PREFIXES[kind]);
    expect(token.slice(4)).toMatch(/^[0-9A-Za-z]+$/);
  });

  it.each(KINDS)('are read again by their kind and digest, in any process: %s', (kind) => {
    const { token, digest } = tokens.issue(kind);
    expect(new CheckedTokens().read(token)).toEqual({ kind, digest });
  });

  it('hold 256 bits of chance at least', () => {
    const issued = Array.from({ length: 2_000 }, () => tokens.issue('session').token.slice(4));
    expect(new Set(issued).size).toBe(issued.length);
    const length = Math.min(...issued.map((secret) => secret.length));
    const places = [...Array(length).keys()].map((place) => entropy(issued.map((secret) => secret[place] as string)));
    const bits = places.reduce((sum, one) => sum + one, 0);
    // A checksum looks like chance as well, and is none. So many tokens show all but a few of the bits.
    expect(bits - CHECKSUM_BITS).toBeGreaterThan(250);
    expect(length * Math.log2(62)).toBeGreaterThan(256 + CHECKSUM_BITS);
  });

  it('are kept as digests that give nothing of them away', () => {
    const { token, digest } = tokens.issue('api_key');
    expect(digest.length).toBeGreaterThanOrEqual(43);
    const forms = [digest, ...(['hex', 'base64'] as const).map((form) => Buffer.from(digest, form).toString('latin1'))];
    for (let start = 0; start + 8 <= token.length; start++)
      for (const form of forms) expect(form).not.toContain(token.slice(start, start + 8));
    expect(tokens.read(digest)).toBeNull();
    expect(tokens.issue('api_key').digest).not.toBe(digest);
  });

  it.each(KINDS)('come with a hint for their owner that is of no use to anybody else: %s', (kind) => {
    const issued = Array.from({ length: 100 }, () => tokens.issue(kind));
    for (const { token, hint } of issued) {
      expect(hint).toMatch(new RegExp(`^${TOKEN_PREFIXES[kind]}….+$`));
      const [, shown = ''] = hint.split('…');
      expect(token.endsWith(shown)).toBe(true);
      expect(shown.length).toBeLessThanOrEqual(4);
      expect(tokens.read(hint)).toBeNull();
    }
    expect(new Set(issued.map(({ hint }) => hint)).size).toBeGreaterThan(95);
  });

  it('are told from other text by any change of one character', () => {
    const { token } = tokens.issue('session');
    for (let place = 0; place < token.length; place++) {
      for (const other of ['0', 'A', 'z', '_', ' ', 'é']) {
        if (other === token[place]) continue;
        expect(tokens.read(token.slice(0, place) + other + token.slice(place + 1))).toBeNull();
      }
    }
  });

  it('are of the kind that they were issued as, whatever prefix they are given', () => {
    for (const kind of KINDS) {
      const { token } = tokens.issue(kind);
      const others = [...Object.values(TOKEN_PREFIXES), 'tnx_', 'TNS_', ''].filter(
        (prefix) => prefix !== TOKEN_PREFIXES[kind],
      );
      for (const prefix of others) expect(tokens.read(prefix + token.slice(4))).toBeNull();
    }
  });

  it('are told from any other text', () => {
    const { token } = tokens.issue('session');
    const more = [`${token}0`, `0${token}`, ` ${token}`, `${token} `, `${token}\n`, `${token}\0`, token + token];
    const less = [token.slice(0, -1), token.slice(1), token.slice(0, 47), 'tns_', ''];
    const otherwise = [token.toUpperCase(), `Bearer ${token}`, encodeURIComponent(`${token}=`), 'x'.repeat(100_000)];
    for (const text of [...more, ...less, ...otherwise]) expect(tokens.read(text)).toBeNull();
  });
});

/** The bits of chance that the characters of one place hold, after Shannon. */
function entropy(characters: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce(
    (bits, count) => bits - (count / characters.length) * Math.log2(count / characters.length),
    0,
  );
}
