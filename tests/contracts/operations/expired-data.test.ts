import { UsageRollUp } from '../../../src/application/jobs/usage.service.js';
import { ExpiredDataService } from '../../../src/application/operations/expired-data.service.js';
import type { ServiceSettings } from '../../../src/application/shared/ports.js';
import type { Account } from '../../../src/domain/accounts/account.js';
import { TypeOrmExpiredData } from '../../../src/infrastructure/typeorm/operations/operations.js';
import type { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { atOnce } from '../../support/barrier.js';
import { query } from '../../support/database.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import { aCall, aMailedToken, anApiKey, aSession, at, ended } from '../../support/records.js';
import { type StockedStore, stocked } from '../../support/repositories.js';

describe('ExpiredData in PostgreSQL', () => {
  const postgres = postgresUnderTest();
  let repositories: StockedStore;
  let expired: TypeOrmExpiredData;
  let account: Account;

  beforeEach(async () => {
    const stock = await stocked(postgres);
    repositories = stock;
    account = stock.account;
    expired = new TypeOrmExpiredData(stock.unitOfWork as TypeOrmUnitOfWork);
  });
  /** Adds one session for each argument, with the end `at(second)`. Returns the ids. */
  const add = async (...seconds: number[]) => {
    const sessions = seconds.map((second) => aSession(account, { expiresAt: at(second) }));
    const { unitOfWork, credentials } = repositories;
    await unitOfWork.run(async () => {
      for (const session of sessions) await credentials.add(session);
    });
    return sessions.map(({ id }) => id);
  };
  const left = async (kind: 'session' | 'api_key') =>
    (await repositories.credentials.list({ accountId: account.id, kind, now: at(0) })).map(({ id }) => id).sort();

  it('removes expired credentials, at most the given number, and none without an end', async () => {
    const ids = await add(3, 1, 2, 9);
    const endless = anApiKey(account, { expiresAt: null });
    await repositories.credentials.add(endless);
    expect(await expired.remove('credentials', at(3), 2)).toBe(2);
    expect(await left('session')).toEqual([ids[0], ids[3]].sort());
    expect(await expired.remove('credentials', at(3), 2)).toBe(1);
    expect(await expired.remove('credentials', at(3), 2)).toBe(0);
    expect(await left('session')).toEqual([ids[3]]);
    expect(await left('api_key')).toEqual([endless.id]);
  });

  it('removes keys of logins that were never used, and no other keys', async () => {
    const { credentials } = repositories;
    const unused = anApiKey(account, { origin: 'login' });
    const kept = [
      anApiKey(account, { origin: 'login', lastUsedAt: at(1) }),
      anApiKey(account, { origin: 'minted' }),
      anApiKey(account, { origin: 'registration' }),
      aSession(account, { origin: 'login' }),
    ];
    for (const one of [unused, ...kept]) await credentials.add(one);
    expect(await expired.remove('unused_keys', new Date(at(0).getTime() - 1), 9)).toBe(0);
    expect(await expired.remove('unused_keys', at(0), 9)).toBe(1);
    expect([...(await left('api_key')), ...(await left('session'))]).toEqual(kept.map(({ id }) => id));
  });

  it('removes expired mailed tokens and site tokens', async () => {
    const token = aMailedToken(account);
    await repositories.mailedTokens.add(token);
    expect(await expired.remove('mailed_tokens', new Date(token.expiresAt.getTime() - 1), 9)).toBe(0);
    expect(await expired.remove('mailed_tokens', token.expiresAt, 9)).toBe(1);
    expect(await repositories.mailedTokens.byDigest(token.digest)).toBeNull();
    await repositories.spentSiteTokens.spend('one', at(5), at(0));
    expect(await expired.remove('site_tokens', at(4), 9)).toBe(0);
    expect(await repositories.spentSiteTokens.spend('one', at(5), at(0))).toBe(false);
    expect(await expired.remove('site_tokens', at(5), 9)).toBe(1);
  });

  it('removes counts of rate limits', async () => {
    const add = "INSERT INTO rate_limits (key, policy, expires_at) VALUES ('a', 'default', $1), ('a', 'auth', $2)";
    await query(postgres.url, add, [at(5), at(6)]);
    expect(await expired.remove('rate_limits', at(5), 9)).toBe(1);
    expect(await query(postgres.url, 'SELECT policy FROM rate_limits')).toEqual([{ policy: 'auth' }]);
  });

  it('removes usage by minute or hour up to the given start, but no usage by day', async () => {
    const { unitOfWork, jobHistory, usage } = repositories;
    await unitOfWork.run(() => jobHistory.append(ended(aCall()), false));
    await new UsageRollUp(usage, unitOfWork, new ManualClock(at(9))).execute();
    const [minute, hour] = ['2026-03-01T12:30:00Z', '2026-03-01T12:00:00Z'].map((text) => new Date(text)) as [
      Date,
      Date,
    ];
    const size = 'SELECT max(pg_column_size(one.*)) AS bytes FROM usage_rollups one';
    expect((await query<{ bytes: number }>(postgres.url, size))[0]?.bytes).toBeLessThan(90); // there is one for each entry
    expect(await expired.remove('usage_minutes', hour, 99)).toBe(0);
    expect(await expired.remove('usage_minutes', minute, 99)).toBe(15); // five groupings in three scopes
    expect(await expired.remove('usage_minutes', minute, 99)).toBe(0);
    const all = { scope: null, since: hour, until: null, groupBy: null };
    expect(await usage.sums({ ...all, bucket: 'minute' })).toEqual([]);
    expect(await usage.sums({ ...all, bucket: 'hour' })).toHaveLength(1);
    expect(await expired.remove('usage_hours', hour, 99)).toBe(15);
    expect(await usage.sums({ ...all, bucket: 'hour' })).toEqual([]);
    expect(await usage.sums({ ...all, since: new Date('2026-03-01T00:00:00Z'), bucket: 'day' })).toHaveLength(1);
  });

  it('removes alert mails by the time when they were sent', async () => {
    const { alerts } = repositories;
    for (const second of [1, 5])
      await alerts.addMessage({ id: `msg_${second}`, receiver: account.id, sentAt: at(second) });
    expect(await expired.remove('alert_messages', at(4), 9)).toBe(1);
    expect(await alerts.countMessages(account.id, at(0))).toBe(1);
  });

  it('removes each row once, also with concurrent calls', async () => {
    await add(...Array(40).fill(1));
    const removed = await atOnce(4, async () => {
      let sum = 0;
      for (let n = 0; n < 4; n++) sum += await expired.remove('credentials', at(1), 10);
      return sum;
    });
    const rest = await expired.remove('credentials', at(1), 100);
    expect(removed.reduce((a, b) => a + b, rest)).toBe(40);
  });

  it('is removed by the service in several steps, except data of the last day', async () => {
    await add(...Array(1_001).fill(0), 2);
    const clock = new ManualClock(new Date(at(1).getTime() + 24 * 60 * 60 * 1000));
    const log = new RecordingLog();
    await new ExpiredDataService(expired, clock, log, { responseKeptMs: 1 } as ServiceSettings).remove();
    expect(await left('session')).toHaveLength(1);
    expect(JSON.stringify(log)).toContain('1001');
  });
});
