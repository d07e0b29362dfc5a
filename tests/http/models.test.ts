import { randomUUID } from 'node:crypto';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ChatRuntimesByEngine } from '../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { createProject, draftModel, type Member, registeredModel } from '../support/workspace.js';
import { invalid, notFound, refusal, stale } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

let app: TestApp;
let admin: Member;
let developer: Member;
let member: Member;
beforeAll(async () => {
  ({ app, admin, developer, member } = await TestApp.withTeam({
    adapt: (container) => container.rebind(ChatRuntimes).to(ChatRuntimesByEngine).inSingletonScope(),
  }));
});
afterAll(() => app.stop());

describe('models', () => {
  const registered = refusal(409, 'model_registered');
  const modelsOf = (projectId: string) => `/v1/projects/${projectId}/models`;
  const put = (path: string, json: object) => app.put(path, admin.token, json);
  const aDraft = async (spec: object = {}) => {
    const project = await createProject(app, admin.token);
    const draft = await draftModel(app, admin.token, project, spec);
    return { project, models: modelsOf(project), draft, at: `${modelsOf(project)}/${draft.id}` };
  };

  it('creates one model for a repeated request_id, and refuses the request_id with another spec', async () => {
    const id = await createProject(app, admin.token);
    const models = modelsOf(id);
    const request_id = randomUUID();
    const attempts = await Promise.all(
      Array.from({ length: 8 }, () => app.post(models, admin.token, { request_id, spec: { a: 1, b: [2] } })),
    );
    expect(attempts.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(attempts.map(({ body }) => body.id)).size).toBe(1);
    const other = await app.post(models, admin.token, { request_id, spec: { a: 1, b: [3] } });
    expect(other).toMatchObject(refusal(409, 'request_id_conflict'));
    expect(await app.store.models.all({ projectId: id }, { limit: 9, after: null })).toHaveLength(1);
  });

  it.each([
    ['request_id', { spec: {} }],
    ['request_id', { request_id: 'not-a-uuid', spec: {} }],
    ['spec', { request_id: randomUUID() }],
  ])('refuses a model with a bad %s (%#)', async (path, json) => {
    const id = await createProject(app, admin.token);
    expect(await app.post(modelsOf(id), admin.token, json)).toMatchObject(invalid(path));
  });

  it('registers a model once, and only the version that the caller has read', async () => {
    const { at } = await aDraft();
    const register = (json: object) => app.post(`${at}/register`, admin.token, json);
    expect(await register({})).toMatchObject(invalid('version'));
    expect(await register({ version: 2 })).toMatchObject(stale(1));
    expect(await register({ version: 1, expected_version: 2 })).toMatchObject(stale(1));
    expect(await register({ expected_version: 1 })).toMatchObject({ status: 200, body: { state: 'registered' } });
    expect(await register({ version: 1 })).toMatchObject(registered);
  });

  it.each([
    ['spec.path', { runtime: 'onnx' }],
    ['spec.path', { runtime: 'onnx', path: '' }],
    ['spec.path', { runtime: 'onnx', path: 7 }],
    ['spec.dtype', { runtime: 'onnx', path: 'later', dtype: 'q3' }],
  ])('refuses to register an ONNX model with a bad %s, which stays a draft (%#)', async (path, spec) => {
    const { at } = await aDraft(spec);
    const register = (version: number) => app.post(`${at}/register`, admin.token, { version });
    expect(await register(1)).toMatchObject(invalid(path));
    expect((await app.get(at, admin.token)).body).toMatchObject({ state: 'draft', version: 1, spec });
    await put(at, { version: 1, spec: { runtime: 'onnx', path: 'later' } }); // no such folder yet
    expect((await register(2)).status).toBe(200);
  });

  it.each([{ path: 7 }, { runtime: 'magic' }, { runtime: 'openai' }])(
    'registers a model that is not an ONNX model with any fields: %j',
    async (spec) => {
      const { at } = await aDraft(spec);
      expect((await app.post(`${at}/register`, admin.token, { version: 1 })).status).toBe(200);
    },
  );

  it('registers at most 2 MB of specs in one project', async () => {
    const project = await createProject(app, admin.token);
    const register = async (bytes: number) => {
      const { id } = await draftModel(app, admin.token, project, { text: 'x'.repeat(bytes) });
      return app.post(`${modelsOf(project)}/${id}/register`, admin.token, { version: 1 });
    };
    for (let n = 0; n < 8; n++) expect((await register(250_000)).status).toBe(200);
    expect(await register(250_000)).toMatchObject(invalid('spec'));
    expect((await register(50_000)).status).toBe(200);
  });

  it('lists drafts and registered models in pages, newest first', async () => {
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
  });

  it('refuses every change of a registered model', async () => {
    const { at } = await aDraft({ a: 1 });
    await put(at, { version: 1, spec: { a: 2 } });
    const model = (await app.post(`${at}/register`, admin.token, { version: 2 })).body;
    for (const version of [1, 2, 3]) expect(await put(at, { version, spec: {} })).toMatchObject(registered);
    expect(await app.post(`${at}/register`, admin.token, { version: 1 })).toMatchObject(registered);
    expect(await app.delete(at, admin.token)).toMatchObject(registered);
    expect((await app.get(at, admin.token)).body).toEqual(model);
    expect((await app.get(`${at}/versions`, admin.token)).body.count).toBe(2);
  });

  it('keeps every version readable, with its author and time', async () => {
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
  });

  it('forks a registered model, and a draft, into a new draft', async () => {
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

  it('creates one fork for each request_id, and one for each call without a request_id', async () => {
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
    expect(await fork({ request_id: 'nonsense' })).toMatchObject(invalid('request_id'));
    const conflict = refusal(409, 'request_id_conflict');
    const otherFork = await app.post(`${models}/${first.body.id}/fork`, admin.token, { request_id });
    expect(otherFork).toMatchObject(conflict);
    expect(await app.post(models, admin.token, { request_id, spec: { a: 1 } })).toMatchObject(conflict);
    const created = randomUUID();
    await app.post(models, admin.token, { request_id: created, spec: { a: 2 } });
    expect(await fork({ request_id: created })).toMatchObject(conflict);
  });

  it('deletes a draft; then its request_id can be used again', async () => {
    const project = await createProject(app, admin.token);
    const request = { request_id: randomUUID(), spec: { a: 1 } };
    const { id } = (await app.post(modelsOf(project), admin.token, request)).body;
    const at = `${modelsOf(project)}/${id}`;
    await put(at, { version: 1, spec: {} });
    const guarded = (ifMatch: string) =>
      app.call('DELETE', at, { token: admin.token, headers: { 'If-Match': ifMatch } });
    for (const tag of ['"1"', 'nonsense']) expect(await guarded(tag)).toMatchObject(stale(2));
    expect(await guarded('"2"')).toMatchObject({ status: 200, body: { id, deleted: true } });
    for (const path of [at, `${at}/versions`, `${at}/versions/1`])
      expect(await app.get(path, admin.token)).toMatchObject(notFound);
    expect(await app.delete(at, admin.token)).toMatchObject(notFound);
    const again = await app.post(modelsOf(project), admin.token, { ...request, spec: { other: true } });
    expect(again.status).toBe(201);
    expect((await app.delete(`${modelsOf(project)}/${again.body.id}`, developer.token)).status).toBe(200);
  });
});

describe('an alias of a model', () => {
  let project: string;
  let one: string;
  let two: string;
  beforeEach(async () => {
    project = await createProject(app, admin.token);
    one = await registeredModel(app, admin.token, project, { n: 1 });
    two = await registeredModel(app, admin.token, project, { n: 2 });
  });

  const at = (alias: string) => `/v1/projects/${project}/models/aliases/${alias}`;
  const call = (method: string, alias: string, json?: object, ifMatch?: string) =>
    app.call(method, at(alias), { token: admin.token, json, headers: ifMatch ? { 'If-Match': ifMatch } : {} });
  const set = (alias: string, model_id: string, more: object = {}, ifMatch?: string) =>
    call('PUT', alias, { model_id, ...more }, ifMatch);
  /** Stores changes of aliases without any check. */
  const stored = async (changes: { alias: string; version: number; modelId: string }[]) => {
    const by = { projectId: project, changedBy: admin.id, changedAt: new Date() };
    for (const change of changes) await app.store.modelAliases.append({ ...change, ...by });
  };
  const read = (alias: string) => app.get(at(alias), member.token);
  const list = async () => (await app.get(`/v1/projects/${project}/models/aliases`, member.token)).body;

  it('points to a model, can be moved, and has a history of its moves', async () => {
    const first = await set('champion', one);
    expect(first.status).toBe(200);
    expect(first.headers.get('etag')).toBe('"1"');
    expect(first.body).toEqual({
      alias: 'champion',
      project_id: project,
      model_id: one,
      version: 1,
      updated_at: expect.any(Number),
      updated_by: admin.id,
      history: [{ version: 1, model_id: one, changed_at: first.body.updated_at, changed_by: admin.id }],
    });
    const second = await set('champion', two);
    expect(second.body).toMatchObject({ model_id: two, version: 2, history: [{ version: 2, model_id: two }, {}] });
    expect(second.body.history[1]).toEqual(first.body.history[0]);
    const found = await read('champion');
    expect(found).toMatchObject({ status: 200, body: second.body });
    expect(found.headers.get('etag')).toBe('"2"');
  });

  it('does not change when it already points to the model', async () => {
    await set('champion', one);
    const { body } = await set('champion', two);
    expect((await set('champion', two)).body).toEqual(body);
    expect((await set('champion', two, { version: 2 }, '"2"')).body).toEqual(body);
    expect(await set('champion', two, { version: 1 })).toMatchObject(stale(2));
  });

  it('moves only from the version that the caller names, if the caller names a version', async () => {
    await set('champion', one);
    await set('champion', two, { version: 1 });
    const outdated: [object, string?][] = [[{ version: 1 }], [{ version: 3 }], [{}, '"1"'], [{ version: 2 }, '"1"']];
    for (const [more, ifMatch] of outdated) expect(await set('champion', one, more, ifMatch)).toMatchObject(stale(2));
    expect((await set('champion', one, {}, '"2"')).body.version).toBe(3);
    expect(await set('new', one, { version: 1 })).toMatchObject(stale(0));
    expect(await read('new')).toMatchObject(notFound);
  });

  it('can be deleted, and continues its history when it is set again', async () => {
    await set('champion', one);
    expect(await call('DELETE', 'champion', undefined, '"2"')).toMatchObject(stale(1));
    const deleted = await call('DELETE', 'champion', undefined, '"1"');
    expect(deleted).toMatchObject({ status: 200, body: { id: 'champion', deleted: true } });
    expect(await read('champion')).toMatchObject(notFound);
    expect(await call('DELETE', 'champion')).toMatchObject(notFound);
    expect(await list()).toEqual({ aliases: [], count: 0 });
    const again = (await set('champion', one)).body;
    expect(again.version).toBe(3);
    expect(again.history.map(({ model_id }: { model_id: string | null }) => model_id)).toEqual([one, null, one]);
  });

  it('shows the newest 100 changes', async () => {
    const models = Array.from({ length: 100 }, (_, at) => (at % 2 ? two : one));
    await stored(models.map((modelId, at) => ({ alias: 'champion', version: at + 1, modelId })));
    for (let move = 101; move <= 103; move++) await set('champion', move % 2 ? one : two);
    for (const { body } of [await read('champion'), await set('champion', one)]) {
      const versions = body.history.map(({ version }: { version: number }) => version);
      expect(versions).toEqual(Array.from({ length: 100 }, (_, at) => 103 - at));
    }
    expect((await set('champion', two)).body.history).toHaveLength(100);
  });

  it('is listed without its history, the last moved alias first', async () => {
    for (const alias of ['a', 'b', 'c']) {
      await set(alias, one);
      app.clock.advance(1);
    }
    const { body } = await set('a', two);
    const { aliases, count } = await list();
    expect([count, ...aliases.map(({ alias }: { alias: string }) => alias)]).toEqual([3, 'a', 'c', 'b']);
    const { history: _, ...listed } = body;
    expect(aliases[0]).toEqual(listed);
  });

  it('may be named like a part of other routes, and is case-sensitive', async () => {
    for (const alias of ['versions', 'fork', 'register', 'aliases', 'Champion', 'champion', '0', 'v1.2_rc-3'])
      expect((await set(alias, one)).body).toMatchObject({ alias, model_id: one, version: 1 });
    expect((await read('versions')).body).toMatchObject({ alias: 'versions', model_id: one });
    for (const alias of ['fork', 'register'])
      expect(await call('POST', alias, {})).toMatchObject(refusal(405, 'method_not_allowed'));
  });

  it('may not have other characters in its name', async () => {
    for (const alias of ['-a', '_a', '.a', 'a b', 'a%2Fb', 'ä', 'a%00', 'a%0A', 'x'.repeat(65), '__proto__']) {
      const refused = await set(alias, one);
      expect({ alias, ...refused }).toMatchObject({ alias, ...invalid('alias') });
      expect(refused.body.details[0].message).toContain('1 to 64');
      for (const answer of [await read(alias), await call('DELETE', alias)])
        expect({ alias, ...answer }).toMatchObject({ alias, ...notFound });
    }
  });

  it('points only to registered models of its project', async () => {
    const draft = await draftModel(app, admin.token, project);
    expect(await set('champion', draft.id)).toMatchObject(invalid('model_id'));
    const foreign = await registeredModel(app, admin.token, await createProject(app, admin.token));
    for (const unknown of [foreign, one.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'champion', ''])
      expect(await set('champion', unknown)).toMatchObject(notFound);
    expect(await read('champion')).toMatchObject(notFound);
  });

  it('is refused if the project has 100 already', async () => {
    await stored(Array.from({ length: 99 }, (_, at) => ({ alias: `alias-${at}`, version: 1, modelId: one })));
    expect((await set('alias-100', one)).status).toBe(200);
    const refused = await set('one-more', one);
    expect(refused).toMatchObject(invalid('alias'));
    expect(refused.body.details[0].message).toContain('at most 100');
    expect((await set('alias-7', two)).body.version).toBe(2);
    await call('DELETE', 'alias-7');
    expect((await set('one-more', one)).status).toBe(200);
    expect(await set('alias-7', one)).toMatchObject({ status: 422 });
    expect((await list()).count).toBe(100);
  });

  it('is deleted with its project', async () => {
    await set('champion', one);
    await call('DELETE', 'champion');
    await set('candidate', two);
    expect((await app.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    expect(await read('candidate')).toMatchObject(notFound);
    expect(await app.store.modelAliases.history(project, 'champion', 9)).toEqual([]);
  });
});
