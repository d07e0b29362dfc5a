import { once } from 'node:events';
import { request } from 'node:http';
import { UsageRollUp } from '../../src/application/jobs/usage.service.js';
import { MemoryBudget, SMALL_BYTES } from '../../src/application/shared/memory-budget.js';
import type { Account } from '../../src/domain/accounts/account.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { bodyLimits } from '../../src/interfaces/http/body.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { checkJsonText, firstUnstorable, inexactNumber } from '../../src/interfaces/http/json-body.js';
import { ifMatchVersion } from '../../src/interfaces/http/middleware/validate.js';
import { aCallOf, keep } from '../support/kept-calls.js';
import { aCall, aConversation, aJob, anEvaluation, aResult, ended } from '../support/records.js';
import { site } from '../support/site.js';
import { until } from '../support/until.js';
import { createProject, draftModel, type Member, register } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const MB = 1024 * 1024;
const WAIT_MS = 100;

const withId = (path: string) => path.replace(/\{\w+\}/g, 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11');

describe('the memory for bodies', () => {
  let app: TestApp;
  let admin: Member;
  let stranger: Member;
  beforeAll(async () => {
    app = await TestApp.start({
      env: site,
      adapt: (container) => void container.rebind(MemoryBudget).toConstantValue(new MemoryBudget(MB, WAIT_MS)),
    });
    admin = await register(app, 'Ada');
    stranger = await register(app, 'Eve');
    await app.moveToOwnTeam(stranger.id);
    await app.verifyEmails();
  });
  afterAll(() => app.stop());

  /** Begins a request with a body of this length. It holds memory until the request is destroyed. */
  async function hold(length: number) {
    const headers = {
      Authorization: `Bearer ${admin.token}`,
      'Content-Type': 'application/json',
      'Content-Length': length,
      Expect: '100-continue',
    };
    const sent = request(`${app.url}/v1/projects`, { method: 'POST', headers }).on('error', () => undefined);
    sent.flushHeaders();
    await once(sent, 'continue');
    return sent;
  }

  const large = (bytes = SMALL_BYTES + 1) => JSON.stringify({ name: 'Large', spec: { goal: 'x'.repeat(bytes) } });
  const create = (raw: string, { token } = admin) => app.call('POST', '/v1/projects', { token, raw });

  const takers = contracts.filter(
    ({ body, streamed, media, bodyLimit = 'ordinary' }) =>
      body && !streamed && !media && bodyLimits[bodyLimit] > SMALL_BYTES,
  );
  it.each(takers.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const))(
    '%s answers 503 to a large body that has waited too long',
    async (_, { method, path }) => {
      const holder = await hold(200 * 1024);
      const call = { token: admin.token, raw: large() };
      const answer = await app.call(method.toUpperCase(), withId(path), call);
      expect(statusAndCode(answer)).toBe('503 busy');
      expect(answer.headers.get('retry-after')).toBe('1');
      holder.destroy();
    },
  );

  it('lets a small body through while a large one holds the memory', async () => {
    const holder = await hold(200 * 1024);
    expect((await create('{"name":"Small","spec":{}}')).status).toBe(201);
    holder.destroy();
  });

  it('keeps room for large and tiny bodies while it refuses a flood of slow small ones', async () => {
    const slow = await Promise.all(Array.from({ length: 5 }, () => hold(SMALL_BYTES)));
    expect((await create(large())).status).toBe(201);
    expect(await create(large(50_000))).toMatchObject({ status: 503, body: { code: 'busy' } });
    expect((await create(large(1_000))).status).toBe(201);
    // Another account, and an address without an account, have their own share.
    expect((await create(large(50_000), stranger)).status).toBe(201);
    const login = JSON.stringify({ email: 'x@example.com', password: 'x'.repeat(50_000) });
    expect((await app.call('POST', '/v1/auth/login', { raw: login })).status).not.toBe(503);
    for (const { method, path } of contracts.filter(({ body, streamed, media }) => body && !streamed && !media)) {
      const call = { token: admin.token, raw: large(50_000) };
      expect(statusAndCode(await app.call(method.toUpperCase(), withId(path), call))).toBe('503 busy');
    }
    for (const one of slow) one.destroy();
    await until('the slow bodies are gone', () => app.shutdown.requestsInFlight === 0);
    expect((await create(large(50_000))).status).toBe(201);
  });

  it('is free again after the caller has left or got the answer; then the next body in line goes on', async () => {
    const holder = await hold(200 * 1024);
    const waiting = create(large());
    holder.destroy();
    expect((await waiting).status).toBe(201);
    for (let n = 0; n < 3; n++) expect((await create(large())).status).toBe(201);
  });

  it('accepts a single body that is larger than the whole memory', async () => {
    expect((await create(large(200 * 1024))).status).toBe(201);
  });

  it('drops a waiting body when its caller disconnects', async () => {
    const holder = await hold(200 * 1024);
    const impatient = request(`${app.url}/v1/projects`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${admin.token}`, 'Content-Type': 'application/json' },
    }).on('error', () => undefined);
    impatient.end(large());
    await until('the second body waits', () => app.shutdown.requestsInFlight === 2);
    impatient.destroy();
    await until('the second body is gone', () => app.shutdown.requestsInFlight === 1);
    holder.destroy();
    expect((await create(large())).status).toBe(201);
  });

  it('also limits the large datasets that are read at once; small ones never wait', async () => {
    const projectId = (await create('{"name":"Small","spec":{}}')).body.id;
    const datasets = `/v1/projects/${projectId}/datasets`;
    const records = (length: number, input: string) => Array.from({ length }, () => ({ input, expected: 'y' }));
    const imported = async (length: number, input: string) =>
      (await app.post(datasets, admin.token, { records: records(length, input) })).body.id;
    const largeId = await imported(12, 'x'.repeat(10_000));
    const change = { version: 1, records: records(12, 'z'.repeat(10_000)) };
    expect((await app.put(`${datasets}/${largeId}`, admin.token, change)).status).toBe(200);
    const smallId = await imported(1, 'x');
    const read = (id: string, more = '') => app.get(`${datasets}/${id}${more}`, admin.token);
    const holder = await hold(200 * 1024);
    for (const more of ['', '/versions/1']) {
      expect(await read(largeId, more)).toMatchObject({ status: 503, body: { code: 'busy' } });
      expect((await read(smallId, more)).status).toBe(200);
    }
    for (const [method, path] of [
      ['POST', '/freeze'],
      ['POST', '/fork'],
      ['GET', '/compare?with=1'],
    ] as const) {
      const answer = await app.call(method, `${datasets}/${largeId}${path}`, { token: admin.token });
      expect(answer).toMatchObject({ status: 503, body: { code: 'busy' } });
    }
    holder.destroy();
    for (let n = 0; n < 3; n++) expect((await read(largeId)).status).toBe(200);
    // A comparison reads two versions. It must not wait for memory that it already holds.
    expect((await read(largeId, '/compare?with=1')).status).toBe(200);
  });

  it('also limits lists, reviews and comparisons of large objects', async () => {
    const spec = { goal: 'x'.repeat(70_000) };
    const first = await createProject(app, admin.token, spec);
    await createProject(app, admin.token, spec);
    const model = await draftModel(app, admin.token, first, spec);
    const other = await draftModel(app, admin.token, first, spec);
    const records = [{ input: 'x'.repeat(120_000), expected: 'y' }];
    const datasets = `/v1/projects/${first}/datasets`;
    const { id } = (await app.post(datasets, admin.token, { records })).body;
    await app.put(`${datasets}/${id}`, admin.token, { version: 1, records: [...records, ...records] });
    const { version } = (await app.put(`/v1/projects/${first}`, admin.token, { version: 1, spec: { dataset_id: id } }))
      .body;
    await app.post(`/v1/projects/${first}/models/${model.id}/register`, admin.token, { version: 1 });
    const rule = { name: 'Long', rule_type: 'job_duration_exceeded', threshold: 1 };
    const calls = [
      () => app.get('/v1/projects', admin.token),
      () => app.get(`/v1/projects/${first}/models`, admin.token),
      () => app.get('/v1/logs?tail=1000', admin.token),
      () => app.get('/v1/logs?job_id=job_1', admin.token),
      () => app.get(`${datasets}/${id}/compare?with=1`, admin.token),
      () => app.get(`${datasets}/${id}/records`, admin.token),
    ];
    await app.post(`/v1/projects/${first}/models/${other.id}/register`, admin.token, { version: 1 });
    const account = (await app.store.accounts.byId(admin.id)) as Account;
    const project = (await app.store.projects.find(account.teamId, first)) as Project;
    const conversation = aConversation(project, account);
    const text = 'x'.repeat(120_000);
    await app.store.conversations.add(conversation, [{ role: 'user', content: text }]);
    const owner = { teamId: account.teamId, requestedBy: account.id, projectId: null, modelId: null };
    const now = app.clock.now().getTime();
    for (let minute = 300; minute > 0; minute--)
      await app.store.jobHistory.append(ended(aCall(owner), 'succeeded', new Date(now - 60_000 * minute)), false);
    await app.container.get(UsageRollUp).execute();
    const job = aJob({ teamId: account.teamId, projectId: first, kind: 'evaluation', result: text });
    await app.store.jobs.add([job]);
    await app.store.evaluations.add(anEvaluation(project, { jobId: job.id }));
    const run = (await app.store.evaluations.begin(job.id)) as number;
    await app.store.evaluations.keep(job.id, run, aResult(1, { output: text }));
    const kept = aCallOf(project, account, { modelId: null, content: 'full', request: { text }, answer: null });
    await keep(app.store, kept);
    calls.push(
      () => app.get(`/v1/projects/${first}/calls`, admin.token),
      () => app.get(`/v1/projects/${first}/calls/${kept.id}`, admin.token),
      () => app.get(`/v1/projects/${first}/calls/export`, admin.token),
      () => app.get(`/v1/usage?bucket=minute&since=${Math.floor(now / 1000) - 301 * 60}`, admin.token),
      () => app.get(`/v1/projects/${first}`, admin.token),
      () => app.get(`/v1/projects/${first}/conversations/${conversation.id}`, admin.token),
      () => app.get('/v1/jobs', admin.token),
      () => app.get(`/v1/jobs/${job.id}/results`, admin.token),
      () => app.get(`/v1/jobs/${job.id}/results/export?format=jsonl`, admin.token),
    );
    const plan = () => app.post(`/v1/projects/${first}/plan`, admin.token, { version });
    const preview = () => app.post('/v1/alerts/rules/preview', admin.token, rule);
    const holder = await hold(200 * 1024);
    const file = () => app.get(`${datasets}/${id}/export?format=jsonl`, admin.token);
    for (const call of [...calls, plan, preview, file])
      expect(await call()).toMatchObject({ status: 503, body: { code: 'busy' } });
    expect((await app.get('/v1/projects?limit=1', admin.token)).status).toBe(200);
    holder.destroy();
    for (const call of calls) expect((await call()).status).toBe(200);
    const unknown = await app.get(`/v1/jobs/${job.id}/results/export?format=xls`, admin.token);
    expect(unknown).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  });
});

describe('the size of JSON text', () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`;

  it('is at most 32 levels, counted before the text is parsed', () => {
    expect(checkJsonText(nested(32)).problem).toBeNull();
    expect(checkJsonText(nested(34)).problem).toContain('32');
    expect(checkJsonText('['.repeat(1_000_000)).problem).toContain('32');
  });

  it('is at most 200,000 values, counted before the text is parsed', () => {
    const list = (values: number) => `[${'1,'.repeat(values - 2)}1]`;
    expect(checkJsonText(list(200_000))).toMatchObject({ problem: null, values: 200_000 });
    expect(checkJsonText(list(200_001)).problem).toContain('200000 values');
  });

  it('does not count brackets in strings, also after escapes', () => {
    expect(checkJsonText(JSON.stringify({ a: '['.repeat(100), b: '\\"[[[['.repeat(20) })).problem).toBeNull();
    expect(checkJsonText(`["\\\\",${'['.repeat(32)}`).problem).toContain('32');
  });

  it.each([
    ['spec', '{"a":[{"x":1},"y"],"spec" : {"b":1,"c":['],
    ['a\\"b', '{"a\\"b":["c",'],
    ['', '["a",{"b":'],
  ])('names the member that is too large: %s', (member, text) => {
    expect(checkJsonText(text + '['.repeat(32))).toMatchObject({ member });
    expect(checkJsonText(text + '1,'.repeat(200_000))).toMatchObject({ member });
  });
});

describe('a number in JSON text', () => {
  it.each([
    '0',
    '-0.0',
    '9007199254740992',
    '123456789012345680000',
    '0.1',
    '0.30000000000000004',
    '1.50',
    '1e300',
    '1E+2',
    '5e-324',
    '100000000000000000000000e-23',
    '1e999', // becomes Infinity, which `firstUnstorable` refuses
  ])('is kept: %s', (number) => expect(inexactNumber(`{"a":[${number} ,"1.00000000000000000001"]}`)).toBeNull());

  it.each([
    '9007199254740993',
    '-12345678901234567890',
    '0.1000000000000000055',
    '1.00000000000000000001',
    '1e-400',
    '1.2345678901234567e22',
  ])('would lose digits: %s', (number) => expect(inexactNumber(`["\\"",{"a":${number}}]`)).toContain(number));

  it('is checked in one pass, however long it is', () => {
    const long = `[${'1.'.padEnd(1_000_000, '0')},${'9'.repeat(300)}]`;
    expect(inexactNumber(long)).toMatch(/^the number 9{100}… would lose digits/);
  });
});

describe('a value that cannot be stored', () => {
  it.each([
    ['a\0', ''],
    [{ a: ['x', 'y\0'] }, 'a.1'],
    [{ a: { 'k\0': 1 } }, 'a'],
    [{ a: '\ud800' }, 'a'],
    [{ a: Number.POSITIVE_INFINITY }, 'a'],
  ])('is found with its path (%#)', async (value, path) => {
    expect(await firstUnstorable(value)).toMatchObject({ path });
  });

  it('is found with a shortened path', async () => {
    const path = `${'x'.repeat(100)}….a`;
    expect(await firstUnstorable({ ['x'.repeat(1_000_000)]: { a: '\0' } })).toMatchObject({ path });
  });

  it('is not looked for in the top-level member that is excepted', async () => {
    expect(await firstUnstorable({ rows: ['\0'], a: { b: 1 } }, 'rows')).toBeNull();
    expect(await firstUnstorable({ rows: ['\0'], a: { rows: '\0' } }, 'rows')).toMatchObject({ path: 'a.rows' });
  });

  it('is not found if all values can be stored', async () => {
    expect(await firstUnstorable({ a: [null, true, -1.5, '\u{1F600}', '\u0001', ''], '': {} })).toBeNull();
  });
});

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['"3"', 3],
    ['W/"3"', 3],
    ['3', Number.NaN],
    ['*', undefined],
    ['"03"', Number.NaN],
    ['"1", "2"', Number.NaN],
    ['', Number.NaN],
  ])('%s means version %s (NaN equals none, undefined stands for any)', (header, version) => {
    expect(ifMatchVersion(header)).toBe(version);
  });
});
