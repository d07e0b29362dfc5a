import { randomUUID } from 'node:crypto';
import { query } from '../support/database.js';
import { Service } from '../support/service.js';
import { createProject, type Member, moveToOwnTeam, register, registeredModel } from '../support/workspace.js';

describe('projects and models', () => {
  let service: Service;
  let admin: Member;
  let member: Member;
  let stranger: Member;

  beforeAll(async () => {
    service = await Service.start();
    admin = await register(service, 'Ada');
    member = await register(service, 'Mia');
    stranger = await register(service, 'Eve');
    await moveToOwnTeam(service.databaseUrl as string, stranger.id);
  });
  afterAll(() => service.stop());

  const projects = '/v1/projects';
  const update = (id: string, json: object, ifMatch?: string) =>
    service.call('PUT', `${projects}/${id}`, {
      token: admin.token,
      json,
      headers: ifMatch ? { 'If-Match': ifMatch } : {},
    });

  it('shows another team’s project and model as if there were none', async () => {
    const id = await createProject(service, admin.token);
    const model = await registeredModel(service, admin.token, id);
    const missing = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const strip = ({
      status,
      body: { request_id: _, ...body },
    }: {
      status: number;
      body: Record<string, unknown>;
    }) => ({ status, body });
    const bodies: [string, string, object?][] = [
      ['GET', ''],
      ['PUT', '', { version: 1, spec: {} }],
      ['POST', '/models', { request_id: randomUUID(), spec: {} }],
      ['GET', `/models/${model}`],
      ['POST', `/models/${model}/register`, { version: 1 }],
      ['GET', '/runtime'],
      ['PUT', '/runtime', { model_id: model }],
      ['POST', '/runtime/start'],
      ['POST', '/runtime/stop'],
      ['DELETE', '/runtime'],
      ['GET', '/conversations'],
      ['GET', `/conversations/${model.replace('mdl', 'cnv')}`],
      ['DELETE', `/conversations/${model.replace('mdl', 'cnv')}`],
      ['POST', '/chat/completions', { model: id, messages: [{ role: 'user', content: 'x' }] }],
    ];
    for (const [method, rest, json] of bodies) {
      const foreign = strip(await service.call(method, `${projects}/${id}${rest}`, { token: stranger.token, json }));
      const none = strip(await service.call(method, `${projects}/${missing}${rest}`, { token: stranger.token, json }));
      expect({ method, rest, ...foreign }).toEqual({ method, rest, ...none });
      expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
    expect((await service.get(`${projects}/${id}`, member.token)).status).toBe(200);
    expect((await service.get(`${projects}/${id}/models/${model}`, member.token)).status).toBe(200);
  });

  it('takes the version from the body, from If-Match, or from both', async () => {
    const id = await createProject(service, admin.token);
    expect((await update(id, { version: 1, spec: {} })).body.version).toBe(2);
    expect((await update(id, { spec: {} }, '"2"')).body.version).toBe(3);
    const both = await update(id, { version: 3, spec: {} }, 'W/"3"');
    expect(both.body.version).toBe(4);
    expect(both.headers.get('etag')).toBe('"4"');
    const stale: [object, string?][] = [
      [{ version: 3, spec: {} }],
      [{ version: 5, spec: {} }],
      [{ spec: {} }, '"3"'],
      [{ version: 4, spec: {} }, '"3"'],
      [{ version: 3, spec: {} }, '"4"'],
      [{ version: 4, spec: {} }, 'nonsense'],
    ];
    for (const [json, ifMatch] of stale) {
      const { status, body } = await update(id, json, ifMatch);
      expect({ json, ifMatch, status, code: body.code }).toEqual({ json, ifMatch, status: 409, code: 'stale_version' });
      expect(body.details).toEqual([{ path: 'version', message: expect.any(String), current: 4 }]);
    }
    expect((await service.get(`${projects}/${id}`, admin.token)).body.version).toBe(4);
    expect((await update(id, { version: 4, spec: {} }, '*')).status).toBe(200);
    expect((await update(id, { spec: {} }, '*')).status).toBe(422);
    const staleToo = await update(id, { version: 9, spec: { goal: 5 } });
    expect(staleToo).toMatchObject({ status: 422, body: { details: [{ path: 'spec.goal' }] } });
  });

  it.each([
    ['version', { spec: {} }],
    ['version', { version: '1', spec: {} }],
    ['version', { version: 0, spec: {} }],
    ['version', { version: 1.5, spec: {} }],
    ['version', { version: 1e300, spec: {} }],
    ['spec', { version: 1 }],
    ['spec', { version: 1, spec: [] }],
    ['spec', { version: 1, spec: null }],
    ['spec.goal', { version: 1, spec: { goal: 7 } }],
    ['spec.acceptance', { version: 1, spec: { acceptance: 'high' } }],
    ['spec.acceptance.threshold', { version: 1, spec: { acceptance: { metric: 'exact', threshold: '0.9' } } }],
    ['name', { version: 1, spec: {}, name: '' }],
    ['name', { version: 1, spec: {}, name: 'a'.repeat(201) }],
  ])('refuses an update with a bad %s (%#)', async (path, json) => {
    const id = await createProject(service, admin.token);
    const { status, body } = await update(id, json);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
    expect((await service.get(`${projects}/${id}`, admin.token)).body.version).toBe(1);
  });

  it('lets no field of a body reach what it does not name', async () => {
    const smuggled = {
      id: 'prj_x',
      version: 9,
      team_id: 'x',
      created_by: 'x',
      status: 'reviewed',
      reviewed_version: 1,
    };
    const { body } = await service.call('POST', projects, {
      token: admin.token,
      raw: JSON.stringify({ ...smuggled, spec: { own: 1 } }).replace(
        '{',
        '{"__proto__":{"version":7},"constructor":1,',
      ),
    });
    expect(body).toMatchObject({
      version: 1,
      status: 'draft',
      created_by: admin.id,
      name: 'Untitled project',
      reviewed_version: null,
    });
    expect(body.spec).toEqual({ own: 1 });
    expect((await service.get(`${projects}/${body.id}`, stranger.token)).status).toBe(404);
  });

  it('takes a spec up to its limit and gives it back as it was', async () => {
    const spec = { text: 'ä'.repeat(100_000), order: { z: 1, a: 2 }, big: 1e300, small: -0.1 };
    const { body, status } = await service.post(projects, admin.token, { spec });
    expect(status).toBe(201);
    expect(JSON.stringify(body.spec)).toBe(JSON.stringify(spec));
  });

  it('lets a repeated request_id make one model, and refuses it for another spec', async () => {
    const id = await createProject(service, admin.token);
    const models = `${projects}/${id}/models`;
    const request_id = randomUUID();
    const attempts = await Promise.all(
      Array.from({ length: 8 }, () => service.post(models, admin.token, { request_id, spec: { a: 1, b: [2] } })),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(attempts.map(({ body }) => body.id)).size).toBe(1);
    const other = await service.post(models, admin.token, { request_id, spec: { a: 1, b: [3] } });
    expect(other).toMatchObject({ status: 409, body: { code: 'request_id_conflict' } });
    const [row] = await query<{ n: string }>(
      service.databaseUrl as string,
      'SELECT count(*) n FROM models WHERE project_id = $1',
      [id],
    );
    expect(row?.n).toBe('1');
  });

  it.each([
    ['request_id', { spec: {} }],
    ['request_id', { request_id: 'not-a-uuid', spec: {} }],
    ['request_id', { request_id: 7, spec: {} }],
    ['spec', { request_id: randomUUID() }],
    ['spec', { request_id: randomUUID(), spec: 'x' }],
  ])('refuses a model with a bad %s (%#)', async (path, json) => {
    const id = await createProject(service, admin.token);
    const { status, body } = await service.post(`${projects}/${id}/models`, admin.token, json);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it('registers the version that the caller has read, once', async () => {
    const id = await createProject(service, admin.token);
    const { body } = await service.post(`${projects}/${id}/models`, admin.token, {
      request_id: randomUUID(),
      spec: {},
    });
    const register = `${projects}/${id}/models/${body.id}/register`;
    expect(await service.post(register, admin.token, {})).toMatchObject({
      status: 422,
      body: { code: 'invalid_request' },
    });
    expect(await service.post(register, admin.token, { version: 2 })).toMatchObject({
      status: 409,
      body: { code: 'stale_version' },
    });
    const stale = await service.post(register, admin.token, { version: 1, expected_version: 2 });
    expect(stale).toMatchObject({ status: 409, body: { code: 'stale_version' } });
    expect((await service.post(register, admin.token, { version: 1 })).status).toBe(200);
    const again = await service.post(register, admin.token, { version: 1 });
    expect(again).toMatchObject({ status: 409, body: { code: 'model_registered' } });
  });

  it('follows a changed role on the very next call', async () => {
    const spec = { spec: {} };
    expect((await service.post(projects, member.token, spec)).status).toBe(403);
    await query(service.databaseUrl as string, `UPDATE accounts SET role = 'developer' WHERE id = $1`, [member.id]);
    expect((await service.post(projects, member.token, spec)).status).toBe(201);
    await query(service.databaseUrl as string, `UPDATE accounts SET role = 'member' WHERE id = $1`, [member.id]);
    expect((await service.post(projects, member.token, spec)).status).toBe(403);
  });
});
