import { join } from 'node:path';
import { permissions } from '../../src/domain/accounts/permission.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { Service } from '../support/service.js';
import { until as eventually } from '../support/until.js';
import { ask, completions, readyProject } from '../support/workspace.js';

interface Line {
  readonly event: string;
  readonly request_id?: string;
  readonly job_id?: string;
  readonly status?: string;
}

let service: Service;
let cast: Cast;

beforeAll(async () => {
  service = await Service.start({ env: { SERVICE_MASTER_KEY: masterKey, SERVICE_MAX_ACCOUNTS: '6' } });
  cast = await castOf(service);
});
afterAll(() => service.stop());

describe('the log over HTTP', () => {
  const read = async (query = '', token = masterKey) => {
    const { status, body } = await service.get(`/v1/logs${query}`, token);
    return { status, body, lines: ((body.lines ?? []) as string[]).map((line) => JSON.parse(line) as Line) };
  };

  /** Waits, because a request's own line may come after its answer. */
  async function until(query: string, seen: (lines: readonly Line[]) => boolean): Promise<Line[]> {
    let lines: Line[] = [];
    await eventually(
      `what ${query} shows`,
      async () => {
        ({ lines } = await read(query));
        return seen(lines);
      },
      50,
    );
    return lines;
  }

  it('shows operators the newest lines, whatever their role and credential', async () => {
    const { admin, developer, member } = cast;
    for (const token of [admin.token, admin.apiKey, developer.token, member.token, member.apiKey, masterKey]) {
      const { status, body } = await read('', token);
      expect(status).toBe(200);
      expect(body).toEqual({
        lines: expect.any(Array),
        count: body.lines.length,
        file: join(service.dataDir, 'tenon.log'),
      });
      expect(body.count).toBeGreaterThan(0);
    }
    expect(permissions.readMonitoring.operator).toBe(true);
    const { status, body } = await read('', cast.regular.token);
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'operator_only' });
  });

  it('gives as many as are asked for, 200 by default and 10000 at most, oldest first', async () => {
    await Promise.all(Array.from({ length: 250 }, () => service.get('/v1/auth/status')));
    const { lines } = await read('?tail=10000');
    expect(lines.length).toBeGreaterThanOrEqual(250);
    expect(lines.findIndex(({ event }) => event === 'ready')).toBeLessThan(lines.length - 100);
    for (const tail of ['1', '2', '007']) expect((await read(`?tail=${tail}`)).body.count).toBe(Number(tail));
    expect((await read()).body.count).toBe(200);
    for (const tail of ['10001', '1000000000', '9'.repeat(400)]) {
      const { status, body } = await read(`?tail=${tail}`);
      expect(status).toBe(200);
      expect(body.count).toBeGreaterThanOrEqual(250);
    }
  });

  it.each([
    ['tail=0', 'tail'],
    ['tail=-1', 'tail'],
    ['tail=1.5', 'tail'],
    ['tail=abc', 'tail'],
    ['tail=', 'tail'],
    ['tail=1e3', 'tail'],
    ['tail=%201', 'tail'],
    ['tail=1&tail=2', 'tail'],
    [`job_id=${'a'.repeat(101)}`, 'job_id'],
    ['job_id=a&job_id=b', 'job_id'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await read(`?${query}`);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details).toMatchObject([{ path: field }]);
  });

  it('tells the story of a job, each line with its request', async () => {
    const call = async (requestId: string, method: string, path: string, json: object) =>
      (await service.call(method, path, { token: cast.admin.token, json, headers: { 'X-Request-Id': requestId } }))
        .body;
    const { id } = await call('one', 'POST', '/v1/jobs', { kind: 'external', name: 'nightly', status: 'queued' });
    await call('two', 'PATCH', `/v1/jobs/${id}`, { status: 'running' });
    await call('three', 'PATCH', `/v1/jobs/${id}`, { status: 'failed', error: 'no' });
    const { id: other } = await as(service, cast.admin.token).ended('succeeded');
    const told = ({ event, request_id, job_id, status }: Line) => ({ event, request_id, job_id, status });
    const story = (await until(`?job_id=${id}`, (lines) => lines.length >= 5)).map(told);
    expect(story.filter(({ event }) => event !== 'request')).toEqual([
      { event: 'job recorded', request_id: 'one', job_id: id, status: 'queued' },
      { event: 'job reported', request_id: 'two', job_id: id, status: 'running' },
      { event: 'job ended', request_id: 'three', job_id: id, status: 'failed' },
    ]);
    expect(story.filter(({ event }) => event === 'request').map(({ request_id }) => request_id)).toEqual([
      'two',
      'three',
    ]);
    expect((await read(`?job_id=${id}&tail=1`)).lines).toHaveLength(1);
    expect(JSON.stringify((await read(`?job_id=${other}`)).lines)).not.toContain(id);
    for (const nothing of ['', 'nothing', id.slice(0, -1), `${id}0`, 'ж'.repeat(100)]) {
      expect(await read(`?job_id=${nothing}`)).toMatchObject({ status: 200, body: { lines: [], count: 0 } });
    }
  });

  it('tells of a chat under its job and its request', async () => {
    const { admin } = cast;
    const project = await readyProject(service, admin.token);
    const headers = { 'X-Request-Id': 'a-chat' };
    const json = ask(project, 'Hi', { max_tokens: 4 });
    expect((await service.call('POST', completions(project), { token: admin.token, json, headers })).status).toBe(200);
    const [{ id }] = (await as(service, admin.token).get('/v1/jobs?kind=chat')).jobs;
    const about = { job_id: id, request_id: 'a-chat', kind: 'chat' };
    const { lines } = await read(`?job_id=${id}`);
    expect(lines.at(-1)).toMatchObject({ event: 'job ended', status: 'succeeded', ...about });
    // Only a call that takes long has a line when it begins.
    for (const line of lines.slice(0, -1)) expect(line).toMatchObject({ event: 'job began', ...about });
  });

  it('has no line that a name has forged', async () => {
    const forged =
      'a\n{"time":"2020-01-01T00:00:00.000Z","level":"info","event":"forged"}\r\n\u001b[2J\u009b2Jb\u2028c';
    const token = cast.admin.token;
    await service.post('/v1/projects', token, { name: forged, spec: {} });
    await service.post('/v1/deployments', token, { name: forged, model_path: forged });
    await service.post('/v1/jobs', token, { kind: 'external', name: forged });
    await service.get(`/v1/projects/${encodeURIComponent(forged)}`, token);
    await service.call('GET', '/v1/auth/status', { headers: { 'X-Request-Id': 'last' } });
    await until('?tail=10000', (lines) => lines.some(({ request_id }) => request_id === 'last'));
    const { body, lines } = await read('?tail=10000');
    expect(lines.map(({ event }) => event)).not.toContain('forged');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    for (const line of body.lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  });

  it('shows none of the secrets that were sent', async () => {
    const { body } = await read('?tail=10000');
    const text = body.lines.join('\n');
    for (const secret of [masterKey, 'correct horse', cast.admin.token, cast.admin.apiKey]) {
      expect(text).not.toContain(secret);
    }
  });
});
