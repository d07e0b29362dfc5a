import { credentialKey, sourceKey, sourceOf } from '../../../src/interfaces/http/rate-limit/caller-key.js';
import { rateLimited, rateLimitHeaders } from '../../../src/interfaces/http/rate-limit/rate-limit-headers.js';
import { RateLimiter, type Standing } from '../../../src/interfaces/http/rate-limit/rate-limiter.js';
import { RecentCallers } from '../../../src/interfaces/http/rate-limit/recent-callers.js';
import { SlidingWindow } from '../../../src/interfaces/http/rate-limit/sliding-window.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';

describe('the sliding window', () => {
  it('keeps a call for 60 seconds to the millisecond', () => {
    const window = new SlidingWindow();
    window.add(1_234);
    expect(window.used(61_233)).toBe(1);
    expect(window.msUntilMoreRoom(61_233)).toBe(1);
    expect(window.used(61_234)).toBe(0);
    expect(window.msUntilMoreRoom(61_234)).toBe(0);
  });

  it('agrees with a list of all calls to half a second, and never counts less', () => {
    const window = new SlidingWindow();
    const calls: number[] = [];
    // An even but restless pace: steps of 1 to 900 ms over four minutes.
    for (let now = 0, step = 7; now < 240_000; now += step) {
      step = (step * 31) % 901 || 1;
      window.add(now);
      calls.push(now);
      const within = (ms: number) => calls.filter((call) => call > now - ms).length;
      expect(window.used(now)).toBeGreaterThanOrEqual(within(60_000));
      expect(window.used(now)).toBeLessThanOrEqual(within(60_500));
    }
  });

  it('keeps a few numbers for a few calls, and no more than 242 for however many', () => {
    const window = new SlidingWindow();
    window.add(0);
    expect(window.size).toBe(2);
    for (let now = 0; now < 180_000; now += 10) {
      window.used(now);
      window.add(now);
    }
    expect(window.size).toBeLessThanOrEqual(242);
  });
});

describe('the table of callers', () => {
  it('has at most so many, and forgets first who called the longest ago', () => {
    const callers = new RecentCallers(10, () => ({}));
    const faithful = callers.of('faithful', 0);
    const once = callers.of('once', 0);
    for (let n = 0; n < 1_000; n++) {
      callers.of(`stranger ${n}`, 0);
      expect(callers.of('faithful', 0)).toBe(faithful);
      expect(callers.size).toBeLessThanOrEqual(10);
    }
    expect(callers.of('once', 0)).not.toBe(once);
  });

  it('remembers everybody for a minute, and nobody for long', () => {
    const callers = new RecentCallers(1_000, () => ({}));
    const kept = new Map<string, { at: number; what: object }>();
    for (let now = 0; now < 300_000; now += 1_700) {
      for (const [key, { at, what }] of kept) {
        if (now - at < 60_000 && at % 3 === 0) expect(callers.of(key, now)).toBe(what);
        else if (now - at < 60_000) continue;
        kept.delete(key);
      }
      kept.set(`at ${now}`, { at: now, what: callers.of(`at ${now}`, now) });
    }
    expect(callers.size).toBeLessThan(150);
    callers.of('late', 1_000_000);
    callers.of('later', 1_060_000);
    expect(callers.size).toBe(2);
  });
});

describe('the limiter', () => {
  const alice = credentialKey('alice');
  const stranger = { known: false, key: '192.0.2.1' };
  const limiter = (perMinute = 3, authPerMinute = 2) => {
    const clock = new ManualClock();
    return { clock, limits: new RateLimiter({ perMinute, authPerMinute }, clock) };
  };

  it('admits up to the limit, and again as the window slides', () => {
    const { clock, limits } = limiter();
    const admitted = () => limits.admit(alice, false).exceeded === null;
    expect([admitted(), admitted()]).toEqual([true, true]);
    clock.advance(20_000);
    expect([admitted(), admitted()]).toEqual([true, false]);
    clock.advance(39_999);
    expect(admitted()).toBe(false);
    clock.advance(1);
    expect([admitted(), admitted(), admitted()]).toEqual([true, true, false]);
    clock.advance(20_000);
    expect([admitted(), admitted()]).toEqual([true, false]);
  });

  it('names the true wait: a refused call uses up nothing, and the first one after the wait goes through', () => {
    const { clock, limits } = limiter(120);
    for (let n = 0; n < 120; n++) {
      expect(limits.admit(alice, false).exceeded).toBeNull();
      clock.advance(137);
    }
    for (let n = 0; n < 500; n++) {
      const { exceeded, standings } = limits.admit(alice, false);
      if (!exceeded) continue;
      expect(standings).toEqual([exceeded]);
      expect(exceeded.remaining).toBe(0);
      expect(exceeded.seconds).toBeGreaterThanOrEqual(1);
      expect(exceeded.seconds).toBeLessThanOrEqual(60);
      limits.admit(alice, false);
      clock.advance(exceeded.seconds * 1000 - 1_000);
      expect(limits.admit(alice, false).exceeded).not.toBeNull();
      clock.advance(1_000);
      expect(limits.admit(alice, false).exceeded).toBeNull();
    }
  });

  it('counts registrations and logins towards both limits, and either can refuse them', () => {
    const { clock, limits } = limiter(3, 2);
    expect(limits.admit(stranger, true).standings).toEqual([
      { policy: 'default', limit: 3, remaining: 2, seconds: 60 },
      { policy: 'auth', limit: 2, remaining: 1, seconds: 60 },
    ]);
    clock.advance(10_000);
    limits.admit(stranger, true);
    expect(limits.admit(stranger, true).exceeded).toMatchObject({ policy: 'auth', limit: 2, seconds: 50 });
    expect(limits.admit(stranger, false).exceeded).toBeNull();
    expect(limits.admit(stranger, false).exceeded).toMatchObject({ policy: 'default', limit: 3, seconds: 50 });

    const other = { known: false, key: '192.0.2.2' };
    for (let n = 0; n < 3; n++) limits.admit(other, false);
    const { exceeded, standings } = limits.admit(other, true);
    expect(exceeded?.policy).toBe('default');
    expect(standings[1]).toEqual({ policy: 'auth', limit: 2, remaining: 2, seconds: 0 });
  });

  it('goes on where it was when the clock is set back, and nobody waits hours for it to catch up', () => {
    const { clock, limits } = limiter();
    for (let n = 0; n < 3; n++) limits.admit(alice, false);
    clock.advance(30_000);
    expect(limits.admit(alice, false).exceeded?.seconds).toBe(30);
    clock.advance(-3_600_000);
    expect(limits.admit(alice, false).exceeded?.seconds).toBe(30);
    clock.advance(29_000);
    expect(limits.admit(alice, false).exceeded?.seconds).toBe(1);
    clock.advance(1_000);
    expect(limits.admit(alice, false).exceeded).toBeNull();
  });

  it('is not to be flooded: two hundred thousand strangers fill a bounded table and leave known callers alone', () => {
    const { clock, limits } = limiter();
    for (let n = 0; n < 3; n++) limits.admit(alice, false);
    for (let n = 0; n < 200_000; n++) {
      const address = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
      if (limits.admit({ known: false, key: address }, false).exceeded) throw new Error(`${address} was refused`);
    }
    expect(limits.size).toBeLessThanOrEqual(100_001);
    expect(limits.admit(alice, false).exceeded).toMatchObject({ remaining: 0, seconds: 60 });
    expect(limits.admit(credentialKey('bob'), false).exceeded).toBeNull();
    clock.advance(120_000);
    limits.admit(stranger, false);
    clock.advance(60_000);
    limits.admit(stranger, false);
    expect(limits.size).toBeLessThan(10);
  });
});

describe('the key of a call', () => {
  it('tells no credential, and is another for each', () => {
    const { key } = credentialKey('tns_secret');
    expect(key).not.toContain('secret');
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    expect(credentialKey('tns_secreT').key).not.toBe(key);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5000', '192.0.2.1'],
    ['[2001:db8::1]:5000', '2001:db8:0:0::/64'],
    ['[2001:db8::1]', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', null],
    ['unknown', null],
    ['_hidden', null],
    ['300.1.1.1', null],
    ['[x]:1', null],
    ['::ffff:1.2.3.4.5', null],
  ])('of %s is %s', (address, expected) => {
    expect(sourceOf(address)).toBe(expected);
  });

  it("is the proxy's own address where that forwards none", () => {
    const socket = { remoteAddress: '::ffff:10.0.0.1' } as never;
    expect(sourceKey({ ip: 'unknown', socket })).toEqual({ known: false, key: '10.0.0.1' });
    expect(sourceKey({ ip: '192.0.2.1', socket })).toEqual({ known: false, key: '192.0.2.1' });
    expect(sourceKey({ ip: undefined, socket: {} as never })).toEqual({ known: false, key: '' });
  });
});

describe('the headers', () => {
  const of = (policy: Standing['policy'], limit: number, remaining: number, seconds: number): Standing => ({
    policy,
    limit,
    remaining,
    seconds,
  });

  it('tell one limit', () => {
    expect(rateLimitHeaders([of('default', 120, 119, 60)])).toEqual({
      'RateLimit-Policy': '"default";q=120;w=60',
      RateLimit: '"default";r=119;t=60',
      'x-ratelimit-limit-requests': '120',
      'x-ratelimit-remaining-requests': '119',
      'x-ratelimit-reset-requests': '1m0s',
    });
  });

  it('tell two limits, and of the tighter one what OpenAI would', () => {
    const headers = rateLimitHeaders([of('default', 120, 100, 31), of('auth', 20, 0, 12)]);
    expect(headers).toMatchObject({
      'RateLimit-Policy': '"default";q=120;w=60, "auth";q=20;w=60',
      RateLimit: '"default";r=100;t=31, "auth";r=0;t=12',
      'x-ratelimit-limit-requests': '20',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '12s',
    });
    const alike = rateLimitHeaders([of('default', 3, 0, 31), of('auth', 20, 0, 12)]);
    expect(alike['x-ratelimit-reset-requests']).toBe('31s');
  });

  it('say in the refusal which limit it is and how long to wait', () => {
    const refusal = rateLimited(of('default', 120, 0, 17));
    expect(refusal).toMatchObject({ status: 429, code: 'rate_limited', headers: { 'Retry-After': '17' } });
    expect(refusal.message).toBe('The limit is 120 requests per minute: try again in 17 seconds.');
    expect(rateLimited(of('auth', 20, 0, 1)).message).toMatch(/ 20 registrations and logins .* 1 second\.$/);
  });
});
