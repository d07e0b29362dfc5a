import type { Quota } from '../../src/application/operations/ports.js';
import { rateLimited, rateLimitHeaders, sourceKey, sourceOf } from '../../src/interfaces/http/middleware/rate-limit.js';

describe('the key of a call', () => {
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
    expect(sourceKey({ ip: 'unknown', socket })).toEqual({ kind: 'address', value: '10.0.0.1' });
    expect(sourceKey({ ip: '192.0.2.1', socket })).toEqual({ kind: 'address', value: '192.0.2.1' });
    expect(sourceKey({ ip: undefined, socket: {} as never })).toEqual({ kind: 'address', value: '' });
  });
});

describe('the headers', () => {
  const of = (policy: Quota['policy'], limit: number, remaining: number, seconds: number): Quota => ({
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
