import type { RateLimit, RateLimitKey } from '../../../src/application/operations/ports.js';
import { SharedRateLimits, type SharedStore } from '../../support/shared-rate-limits.js';

const limits: RateLimit[] = [{ policy: 'default', limit: 120 }];

describe('the table of the rate limits', () => {
  let shared: SharedRateLimits;
  let store: SharedStore['store'];
  beforeAll(async () => {
    shared = await SharedRateLimits.open();
  });
  afterAll(() => shared.close());
  beforeEach(async () => {
    await shared.empty();
    ({ store } = shared.store());
  });

  it('has no credential and no address', async () => {
    await store.take({ kind: 'credential', value: 'alice' }, limits, 1);
    await store.take({ kind: 'address', value: '192.0.2.1' }, limits, 1);
    await store.tell('all');
    expect(await shared.rows()).toHaveLength(2);
    const text = JSON.stringify(await shared.rows());
    for (const plain of ['alice', '192.0.2.1', Buffer.from('alice').toString('base64url')])
      expect(text).not.toContain(plain);
  });

  it('loses the rows of callers that do not call any more', async () => {
    const stranger = (nth: number): RateLimitKey => ({ kind: 'address', value: `10.0.0.${nth}` });
    for (let nth = 0; nth < 20; nth++) await store.take(stranger(nth), limits, 1);
    await store.tell('all');
    await shared.advance(200_000);
    for (let nth = 20; nth < 40; nth++) await store.take(stranger(nth), limits, 1);
    await store.tell('all');
    expect(await shared.rows()).toHaveLength(20);
  });
});
