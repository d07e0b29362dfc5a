import { CutOffProxy } from '../support/cut-off-proxy.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { type Member, password, register } from '../support/workspace.js';

const LIMIT = 120;
/** Each instance may admit 1 % before it asks. */
const MOST = 1.05 * LIMIT;
const AUTH_LIMIT = 5;
const INSTANCES = 3;

describe('three instances that count requests together', () => {
  let database: TestDatabase;
  let proxy: CutOffProxy;
  /** Reaches the database through a proxy. */
  let apart: Service;
  const instances: Service[] = [];
  let ada: Member;

  beforeAll(async () => {
    database = await freshDatabase();
    proxy = await CutOffProxy.before(database.url);
    const dataDir = await temporaryFolder();
    const env = {
      SERVICE_RATE_LIMIT_STORE: 'database',
      SERVICE_RATE_LIMIT_PER_MIN: String(LIMIT),
      SERVICE_RATE_LIMIT_AUTH_PER_MIN: String(AUTH_LIMIT),
      SERVICE_TRUST_PROXY: 'loopback',
    };
    const start = (nth: number, databaseUrl: string) =>
      Service.start({
        alone: 'it is one of several',
        databaseUrl,
        dataDir,
        env: { ...env, SERVICE_INSTANCE_NAME: `instance-${nth}`, SERVICE_LOG_FILE: `${dataDir}/${nth}.log` },
      });
    for (let nth = 0; nth < INSTANCES; nth++) instances.push(await start(nth, database.url));
    apart = await start(INSTANCES, proxy.url);
    ada = await register(instances[0] as Service, 'Ada');
  });
  afterAll(async () => {
    await Promise.all([...instances, apart].map((one) => one.stop()));
    await proxy.close();
    await database.drop();
  });

  const at = (nth: number) => instances[nth % INSTANCES] as Service;

  /** Makes calls with 8 callers at once. Returns how many are admitted. */
  async function admitted(calls: number, instanceOf: (nth: number) => Service, token: string): Promise<number> {
    let [next, count] = [0, 0];
    const caller = async () => {
      for (let nth = next++; nth < calls; nth = next++) {
        const { status, headers } = await instanceOf(nth).get('/v1/auth/me', token);
        if (status === 200) count++;
        else
          expect({ status, remaining: headers.get('x-ratelimit-remaining-requests') }).toEqual({
            status: 429,
            remaining: '0',
          });
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));
    return count;
  }

  it('admit within 5 % of the limit in a minute to a caller that goes around', async () => {
    const begun = performance.now();
    let count = await admitted(200, at, ada.token);
    expect(count).toBeGreaterThanOrEqual(0.95 * LIMIT);
    await until('the rest of the limit is admitted', async () => {
      count += await admitted(8, at, ada.token);
      return count >= LIMIT;
    });
    count += await admitted(100, at, ada.token);
    expect(performance.now() - begun).toBeLessThan(60_000);
    expect(count).toBeLessThanOrEqual(MOST);
  });

  it('admit the whole limit to a caller that stays at one of them', async () => {
    const { token } = await register(at(0), 'Mia');
    expect(await admitted(150, () => at(1), token)).toBe(LIMIT);
    expect(await admitted(40, at, token)).toBeLessThanOrEqual(MOST - LIMIT);
  });

  it('admit no more registrations and logins from an address than the limit, also with valid credentials', async () => {
    const json = { email: 'ada@example.com', password };
    const tokens = await Promise.all(Array.from({ length: 24 }, (_, nth) => freshToken(nth)));
    for (const tokenOf of [() => undefined, (nth: number) => tokens[nth]]) {
      const headers = { 'X-Forwarded-For': tokenOf(0) ? '198.51.100.1' : '198.51.100.2' };
      const login = (nth: number) => at(nth).call('POST', '/v1/auth/login', { token: tokenOf(nth), json, headers });
      const answers = await Promise.all(Array.from({ length: 24 }, (_, nth) => login(nth)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(AUTH_LIMIT);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(24 - AUTH_LIMIT);
    }
  });

  /** Returns a credential that has made no calls. */
  async function freshToken(nth: number): Promise<string> {
    const headers = { 'X-Forwarded-For': `203.0.113.${100 + nth}` };
    const json = { email: 'ada@example.com', password };
    return (await at(0).call('POST', '/v1/auth/login', { json, headers })).body.token;
  }

  it('answer no 5xx while the database is out of reach: an instance counts alone then', async () => {
    const nothing = async (address: string) => {
      const headers = { 'X-Forwarded-For': address };
      return (await apart.call('GET', '/v1/nothing', { headers })).status;
    };
    const spent = async () => (await query(database.url, `SELECT FROM rate_limits WHERE total >= ${LIMIT}`)).length;
    const before = await spent();
    const lines = (text: string) => apart.errors.split(text).length - 1;
    const [alone, together] = ['counts alone for the rate limits', 'count together for the rate limits again'];
    // A busy machine may be late with an answer at any time, before the outage, too.
    await until('it counts together', () => lines(alone) === lines(together));
    const outages = lines(alone);
    expect(await nothing('203.0.113.1')).toBe(404);
    proxy.silence();
    const statuses: number[] = [];
    const begun = performance.now();
    for (let nth = 0; nth < LIMIT + 10; nth++) statuses.push(await nothing('203.0.113.1'));
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(statuses.filter((status) => status === 404)).toHaveLength(LIMIT - 1);
    expect(statuses.filter((status) => status === 429)).toHaveLength(11);
    proxy.cut();
    proxy.reopen();
    await until('the calls are told', async () => (await spent()) > before);
    await until('the log says so', () => lines(together) > outages);
    expect(lines(alone)).toBe(outages + 1);
  });
});
