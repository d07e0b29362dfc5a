import { randomUUID } from 'node:crypto';
import { createProject, draftModel, type Member, register, registeredModel } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const nobody = '0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

describe('models', () => {
  let app: TestApp;
  let admin: Member;
  let developer: Member;
  let member: Member;
  let stranger: Member;

  beforeAll(async () => {
    app = await TestApp.start({ env: { SERVICE_MAX_ACCOUNTS: '9' } });
    admin = await register(app, 'Ada');
    developer = await register(app, 'Dev');
    member = await register(app, 'Mia');
    stranger = await register(app, 'Eve');
    await app.moveToOwnTeam(stranger.id);
    await app.setAccount(developer.id, { role: 'developer' });
  });
  afterAll(() => app.stop());

  const modelsOf = (projectId: string) => `/v1/projects/${projectId}/models`;
  const put = (path: string, json: object, ifMatch?: string) =>
    app.call('PUT', path, { token: admin.token, json, headers: ifMatch ? { 'If-Match': ifMatch } : {} });
  const refusal = (code: string, status = 409) => ({ status, body: { code } });
  const aDraft = async (spec: object = {}) => {
    const project = await createProject(app, admin.token);
    const draft = await draftModel(app, admin.token, project, spec);
    return { project, models: modelsOf(project), draft, at: `${modelsOf(project)}/${draft.id}` };
  };

  it('lets a repeated request_id make one model, and refuses it for another spec', async () => {
    const id = await createProject(app, admin.token);
    const models = modelsOf(id);
    const request_id = randomUUID();
    const attempts = await Promise.all(
      Array.from({ length: 8 }, () => app.post(models, admin.token, { request_id, spec: { a: 1, b: [2] } })),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(attempts.map(({ body }) => body.id)).size).toBe(1);
    const other = await app.post(models, admin.token, { request_id, spec: { a: 1, b: [3] } });
    expect(other).toMatchObject({ status: 409, body: { code: 'request_id_conflict' } });
    expect(await app.store.models.all(id, { limit: 9, after: null })).toHaveLength(1);
  });

  it.each([
    ['request_id', { spec: {} }],
    ['request_id', { request_id: 'not-a-uuid', spec: {} }],
    ['request_id', { request_id: 7, spec: {} }],
    ['spec', { request_id: randomUUID() }],
    ['spec', { request_id: randomUUID(), spec: 'x' }],
  ])('refuses a model with a bad %s (%#)', async (path, json) => {
    const id = await createProject(app, admin.token);
    const { status, body } = await app.post(modelsOf(id), admin.token, json);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it('registers the version that the caller has read, once', async () => {
    const id = await createProject(app, admin.token);
    const { body } = await app.post(modelsOf(id), admin.token, {
      request_id: randomUUID(),
      spec: {},
    });
    const register = `${modelsOf(id)}/${body.id}/register`;
    expect(await app.post(register, admin.token, {})).toMatchObject({
      status: 422,
      body: { code: 'invalid_request' },
    });
    expect(await app.post(register, admin.token, { version: 2 })).toMatchObject({
      status: 409,
      body: { code: 'stale_version' },
    });
    const stale = await app.post(register, admin.token, { version: 1, expected_version: 2 });
    expect(stale).toMatchObject({ status: 409, body: { code: 'stale_version' } });
    expect((await app.post(register, admin.token, { version: 1 })).status).toBe(200);
    const again = await app.post(register, admin.token, { version: 1 });
    expect(again).toMatchObject({ status: 409, body: { code: 'model_registered' } });
  });

  it('hides what another project has, and what there never was', async () => {
    const { draft, at } = await aDraft();
    const elsewhere = modelsOf(await createProject(app, admin.token));
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['GET', '/versions'],
      ['GET', '/versions?limit=nonsense'],
      ['GET', '/versions/1'],
      ['PUT', '', { version: 1, spec: {} }],
      ['PUT', '', { version: 'nonsense' }],
      ['POST', '/fork'],
      ['POST', '/fork', { request_id: 'nonsense' }],
      ['POST', '/register', { version: 1 }],
      ['DELETE', ''],
    ];
    for (const id of [draft.id, `mdl_${nobody}`])
      for (const [method, rest, json] of calls) {
        const answer = await app.call(method, `${elsewhere}/${id}${rest}`, { token: admin.token, json });
        expect({ method, rest, ...answer }).toMatchObject({ method, rest, ...refusal('not_found', 404) });
      }
    for (const version of ['0', '2', '01', '1.0', 'x', '9999999999', '99999999999'])
      expect(await app.get(`${at}/versions/${version}`, admin.token)).toMatchObject(refusal('not_found', 404));
    expect((await app.get(at, admin.token)).body.version).toBe(1);
  });

  it('lists drafts and registered models by the page, newest first', async () => {
    const { project, models, draft } = await aDraft();
    const ids = [draft.id, await registeredModel(app, admin.token, project)];
    ids.unshift((await draftModel(app, admin.token, project)).id);
    const newest = [...ids].sort().reverse();
    const idsOf = (body: { models: { id: string }[] }) => body.models.map(({ id }) => id);
    const all = await app.get(models, member.token);
    expect(all).toMatchObject({ status: 200, body: { count: 3, next_cursor: null } });
    expect(idsOf(all.body)).toEqual(newest);
    expect(all.body.models.map(({ state }: { state: string }) => state)).toContain('draft');
    const first = (await app.get(`${models}?limit=2`, member.token)).body;
    expect([...idsOf(first), first.count]).toEqual([newest[0], newest[1], 2]);
    const second = (await app.get(`${models}?limit=2&cursor=${first.next_cursor}`, member.token)).body;
    expect(second).toMatchObject({ count: 1, next_cursor: null });
    expect(idsOf(second)).toEqual([newest[2]]);
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'cursor=x'])
      expect(await app.get(`${models}?${query}`, member.token)).toMatchObject(refusal('invalid_request', 422));
    const unknown = await app.get(`${modelsOf(`prj_${nobody}`)}?limit=0`, member.token);
    expect(unknown).toMatchObject(refusal('not_found', 404));
  });

  it('updates a draft by the version last read, in the body, in If-Match, or in both', async () => {
    const { at } = await aDraft({ a: 1 });
    expect((await put(at, { version: 1, spec: { a: 2 } })).body).toMatchObject({ version: 2, spec: { a: 2 } });
    expect((await put(at, { spec: { a: 3 } }, '"2"')).body.version).toBe(3);
    const both = await put(at, { version: 3, spec: { b: [] } }, 'W/"3"');
    expect([both.body.version, both.headers.get('etag')]).toEqual([4, '"4"']);
    const stale: [object, string?][] = [
      [{ version: 3, spec: {} }],
      [{ version: 5, spec: {} }],
      [{ spec: {} }, '"3"'],
      [{ version: 4, spec: {} }, '"3"'],
      [{ version: 3, spec: {} }, '"4"'],
    ];
    for (const [json, ifMatch] of stale) {
      const { status, body } = await put(at, json, ifMatch);
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'stale_version' });
      expect(body.details).toEqual([{ path: 'version', message: expect.any(String), current: 4 }]);
    }
    expect((await app.get(at, admin.token)).body).toMatchObject({ version: 4, spec: { b: [] }, state: 'draft' });
  });

  it.each([
    ['version', { spec: {} }],
    ['version', { version: '1', spec: {} }],
    ['version', { version: 0, spec: {} }],
    ['spec', { version: 1 }],
    ['spec', { version: 1, spec: [] }],
    ['spec', { version: 1, spec: null }],
  ])('refuses an update with a bad %s (%#)', async (path, json) => {
    const { at } = await aDraft();
    const { status, body } = await put(at, json);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
    expect((await app.get(at, admin.token)).body.version).toBe(1);
  });

  it('lets nothing of a registered model change', async () => {
    const { at } = await aDraft({ a: 1 });
    await put(at, { version: 1, spec: { a: 2 } });
    const registered = (await app.post(`${at}/register`, admin.token, { version: 2 })).body;
    for (const version of [1, 2, 3])
      expect(await put(at, { version, spec: {} })).toMatchObject(refusal('model_registered'));
    expect(await app.post(`${at}/register`, admin.token, { version: 1 })).toMatchObject(refusal('model_registered'));
    expect(await app.delete(at, admin.token)).toMatchObject(refusal('model_registered'));
    expect((await app.get(at, admin.token)).body).toEqual(registered);
    expect((await app.get(`${at}/versions`, admin.token)).body.count).toBe(2);
  });

  it('keeps every version readable, with who made it and when', async () => {
    const { project, draft, at } = await aDraft({ a: 1 });
    const json = { version: 1, spec: { a: 2, by: 'developer' } };
    const second = (await app.call('PUT', at, { token: developer.token, json })).body;
    await app.post(`${at}/register`, admin.token, { version: 2 });
    const { body } = await app.get(`${at}/versions`, member.token);
    expect(body).toEqual({
      versions: [
        { version: 2, created_at: second.updated_at, created_by: developer.id },
        { version: 1, created_at: second.created_at, created_by: admin.id },
      ],
      count: 2,
      next_cursor: null,
    });
    for (const [row, spec] of [
      [body.versions[0], json.spec],
      [body.versions[1], { a: 1 }],
    ]) {
      const one = await app.get(`${at}/versions/${row.version}`, member.token);
      expect(one).toMatchObject({ status: 200, body: { id: draft.id, project_id: project, spec, ...row } });
    }
    const page = (await app.get(`${at}/versions?limit=1`, member.token)).body;
    expect([page.versions[0].version, page.next_cursor]).toEqual([2, '2']);
    const rest = (await app.get(`${at}/versions?limit=1&cursor=2`, member.token)).body;
    expect([rest.versions[0].version, rest.next_cursor]).toEqual([1, null]);
    for (const query of ['limit=0', 'cursor=0', 'cursor=x'])
      expect(await app.get(`${at}/versions?${query}`, member.token)).toMatchObject(refusal('invalid_request', 422));
  });

  it('forks a registered model, and a draft, into a draft of its own', async () => {
    const { project, models, draft, at } = await aDraft({ a: 1 });
    await put(at, { version: 1, spec: { a: 2 } });
    for (const source of [draft.id, await registeredModel(app, admin.token, project, { a: 2 })]) {
      const version = source === draft.id ? 2 : 1;
      const { status, body, headers } = await app.post(`${models}/${source}/fork`, developer.token);
      expect({ status, etag: headers.get('etag') }).toEqual({ status: 201, etag: '"1"' });
      expect(body).toMatchObject({ version: 1, state: 'draft', spec: { a: 2 }, created_by: developer.id });
      expect(body).toMatchObject({ project_id: project, forked_from: { model_id: source, version } });
      expect((await app.get(`${models}/${body.id}`, member.token)).body).toEqual(body);
      expect((await put(`${models}/${body.id}`, { version: 1, spec: { a: 3 } })).status).toBe(200);
      const source_now = (await app.get(`${models}/${source}`, member.token)).body;
      expect(source_now).toMatchObject({ version, spec: { a: 2 }, forked_from: null });
    }
  });

  it('makes one fork for a request_id, and another one without', async () => {
    const { models, at } = await aDraft({ a: 1 });
    const fork = (json?: object) => app.post(`${at}/fork`, admin.token, json);
    const request_id = randomUUID();
    const first = await fork({ request_id });
    await put(at, { version: 1, spec: { a: 2 } });
    const again = await fork({ request_id: request_id.toUpperCase() });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    const others = [await fork(), await fork({}), await fork({ request_id: randomUUID() })];
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set([first, ...others].map(({ body }) => body.id)).size).toBe(4);
    for (const bad of ['nonsense', 7, null]) {
      const { body, status } = await fork({ request_id: bad });
      expect({ status, path: body.details[0].path }).toEqual({ status: 422, path: 'request_id' });
    }
    const conflict = refusal('request_id_conflict');
    const otherFork = await app.post(`${models}/${first.body.id}/fork`, admin.token, { request_id });
    expect(otherFork).toMatchObject(conflict);
    expect(await app.post(models, admin.token, { request_id, spec: { a: 1 } })).toMatchObject(conflict);
    const created = randomUUID();
    await app.post(models, admin.token, { request_id: created, spec: { a: 2 } });
    expect(await fork({ request_id: created })).toMatchObject(conflict);
  });

  it('deletes a draft, whose request_id is free then', async () => {
    const project = await createProject(app, admin.token);
    const request = { request_id: randomUUID(), spec: { a: 1 } };
    const { id } = (await app.post(modelsOf(project), admin.token, request)).body;
    const at = `${modelsOf(project)}/${id}`;
    await put(at, { version: 1, spec: {} });
    const guarded = (ifMatch: string) =>
      app.call('DELETE', at, { token: admin.token, headers: { 'If-Match': ifMatch } });
    for (const tag of ['"1"', 'nonsense']) expect(await guarded(tag)).toMatchObject(refusal('stale_version'));
    expect(await guarded('"2"')).toMatchObject({ status: 200, body: { id, deleted: true } });
    for (const path of [at, `${at}/versions`, `${at}/versions/1`])
      expect(await app.get(path, admin.token)).toMatchObject(refusal('not_found', 404));
    expect(await app.delete(at, admin.token)).toMatchObject(refusal('not_found', 404));
    const again = await app.post(modelsOf(project), admin.token, { ...request, spec: { other: true } });
    expect(again.status).toBe(201);
    expect((await app.delete(`${modelsOf(project)}/${again.body.id}`, developer.token)).status).toBe(200);
  });

  it('lets no field of a body reach what it does not name', async () => {
    const { project, models, at } = await aDraft();
    const smuggled = { id: `mdl_${nobody}`, version: 9, state: 'registered', team_id: 'x', created_by: 'x' };
    const more = {
      project_id: 'x',
      registered_at: 1,
      forked_from: { model_id: 'x', version: 1 },
      requested_spec: '{}',
    };
    const sent = (own: object) =>
      JSON.stringify({ ...smuggled, ...more, ...own }).replace('{', '{"__proto__":{"version":7},"constructor":1,');
    const untouched = { state: 'draft', project_id: project, created_by: admin.id, registered_at: null };
    const request = sent({ request_id: randomUUID(), spec: {} });
    const created = await app.call('POST', models, { token: admin.token, raw: request });
    expect(created.body).toMatchObject({ ...untouched, version: 1, forked_from: null, spec: {} });
    const updated = await app.call('PUT', at, { token: admin.token, raw: sent({ version: 1, spec: {} }) });
    expect(updated.body).toMatchObject({ ...untouched, version: 2, forked_from: null, spec: {} });
    const forked = await app.call('POST', `${at}/fork`, { token: admin.token, raw: sent({}) });
    expect(forked.body).toMatchObject({ ...untouched, version: 1, forked_from: { version: 2 } });
    const ids = [created, updated, forked].map(({ body }) => body.id);
    expect(ids).not.toContain(smuggled.id);
    const registered = await app.call('POST', `${at}/register`, {
      token: admin.token,
      raw: sent({ version: 2, spec: { new: true } }),
    });
    expect(registered.body).toMatchObject({ version: 2, spec: {}, created_by: admin.id });
  });
});
