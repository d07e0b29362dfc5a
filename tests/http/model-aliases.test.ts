import { createProject, draftModel, type Member, register, registeredModel } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

describe('aliases of models', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let project: string;
  let one: string;
  let two: string;

  beforeAll(async () => {
    app = await TestApp.start();
    admin = await register(app, 'Ada');
    member = await register(app, 'Mia');
  });
  afterAll(() => app.stop());
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
  /** So many changes, as if they had been made. */
  const stored = async (count: number, change: (n: number) => [alias: string, version: number, model: string]) => {
    for (let n = 1; n <= count; n++) {
      const [alias, version, modelId] = change(n);
      const changedAt = new Date();
      await app.store.modelAliases.append({
        projectId: project,
        alias,
        version,
        modelId,
        changedBy: admin.id,
        changedAt,
      });
    }
  };
  const read = (alias: string) => app.get(at(alias), member.token);
  const list = async () => (await app.get(`/v1/projects/${project}/models/aliases`, member.token)).body;
  const refusal = (code: string, status = 409) => ({ status, body: { code } });

  it('points to a model, and moves, with who moved it and when', async () => {
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

  it('changes nothing when it points there already', async () => {
    await set('champion', one);
    const { body } = await set('champion', two);
    expect((await set('champion', two)).body).toEqual(body);
    expect((await set('champion', two, { version: 2 }, '"2"')).body).toEqual(body);
    expect(await set('champion', two, { version: 1 })).toMatchObject(refusal('stale_version'));
  });

  it('moves only from the version that the caller says, if one is said', async () => {
    await set('champion', one);
    await set('champion', two, { version: 1 });
    const stale: [object, string?][] = [[{ version: 1 }], [{ version: 3 }], [{}, '"1"'], [{ version: 2 }, '"1"']];
    for (const [more, ifMatch] of stale) {
      const { status, body } = await set('champion', one, more, ifMatch);
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'stale_version' });
      expect(body.details).toEqual([{ path: 'version', message: expect.any(String), current: 2 }]);
    }
    expect((await set('champion', one, {}, '"2"')).body.version).toBe(3);
    expect(await set('new', one, { version: 1 })).toMatchObject({
      status: 409,
      body: { details: [{ path: 'version', current: 0 }] },
    });
    expect(await read('new')).toMatchObject(refusal('not_found', 404));
  });

  it('is taken away, and goes on with its history when it is set again', async () => {
    await set('champion', one);
    expect(await call('DELETE', 'champion', undefined, '"2"')).toMatchObject(refusal('stale_version'));
    const deleted = await call('DELETE', 'champion', undefined, '"1"');
    expect(deleted).toMatchObject({ status: 200, body: { id: 'champion', deleted: true } });
    expect(await read('champion')).toMatchObject(refusal('not_found', 404));
    expect(await call('DELETE', 'champion')).toMatchObject(refusal('not_found', 404));
    expect(await list()).toEqual({ aliases: [], count: 0 });
    const again = (await set('champion', one)).body;
    expect(again.version).toBe(3);
    expect(again.history.map(({ model_id }: { model_id: string | null }) => model_id)).toEqual([one, null, one]);
  });

  it('shows the newest 100 changes', async () => {
    await stored(100, (n) => ['champion', n, n % 2 ? one : two]);
    for (let move = 101; move <= 103; move++) await set('champion', move % 2 ? one : two);
    for (const { body } of [await read('champion'), await set('champion', one)]) {
      const versions = body.history.map(({ version }: { version: number }) => version);
      expect(versions).toEqual(Array.from({ length: 100 }, (_, at) => 103 - at));
    }
    expect((await set('champion', two)).body.history).toHaveLength(100);
  });

  it('is listed without its history, the one moved last first', async () => {
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

  it('takes names that are words of other routes, and tells letter cases apart', async () => {
    for (const alias of ['versions', 'fork', 'register', 'aliases', 'Champion', 'champion', '0', 'v1.2_rc-3'])
      expect((await set(alias, one)).body).toMatchObject({ alias, model_id: one, version: 1 });
    expect((await read('versions')).body).toMatchObject({ alias: 'versions', model_id: one });
    for (const alias of ['fork', 'register'])
      expect(await call('POST', alias, {})).toMatchObject(refusal('method_not_allowed', 405));
    const all = `/v1/projects/${project}/models/aliases`;
    for (const method of ['PUT', 'DELETE', 'POST'])
      expect(await app.call(method, all, { token: admin.token })).toMatchObject(refusal('method_not_allowed', 405));
  });

  it('may not be called anything else', async () => {
    for (const alias of ['-a', '_a', '.a', 'a b', 'a%2Fb', 'ä', 'a%00', 'a%0A', 'x'.repeat(65), '__proto__']) {
      const { status, body } = await set(alias, one);
      expect({ alias, status, code: body.code }).toEqual({ alias, status: 422, code: 'invalid_request' });
      expect(body.details).toEqual([{ path: 'alias', message: expect.stringContaining('1 to 64') }]);
      for (const answer of [await read(alias), await call('DELETE', alias)])
        expect({ alias, ...answer }).toMatchObject({ alias, ...refusal('not_found', 404) });
    }
  });

  it('points to registered models of its project only', async () => {
    const draft = await draftModel(app, admin.token, project);
    const { status, body } = await set('champion', draft.id);
    expect({ status, path: body.details[0].path }).toEqual({ status: 422, path: 'model_id' });
    const foreign = await registeredModel(app, admin.token, await createProject(app, admin.token));
    for (const unknown of [foreign, one.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'champion', ''])
      expect(await set('champion', unknown)).toMatchObject(refusal('not_found', 404));
    for (const model_id of [undefined, null, 7]) {
      const answer = await call('PUT', 'champion', { model_id });
      expect({ status: answer.status, path: answer.body.details[0].path }).toEqual({ status: 422, path: 'model_id' });
    }
    expect(await read('champion')).toMatchObject(refusal('not_found', 404));
  });

  it('is one of 100 at most', async () => {
    await stored(99, (n) => [`alias-${n}`, 1, one]);
    expect((await set('alias-100', one)).status).toBe(200);
    const { status, body } = await set('one-more', one);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details).toEqual([{ path: 'alias', message: expect.stringContaining('at most 100') }]);
    expect((await set('alias-7', two)).body.version).toBe(2);
    await call('DELETE', 'alias-7');
    expect((await set('one-more', one)).status).toBe(200);
    expect(await set('alias-7', one)).toMatchObject({ status: 422 });
    expect((await list()).count).toBe(100);
  });

  it('goes with its project', async () => {
    await set('champion', one);
    await call('DELETE', 'champion');
    await set('candidate', two);
    expect((await app.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    expect(await read('candidate')).toMatchObject(refusal('not_found', 404));
    expect(await app.store.modelAliases.history(project, 'champion', 9)).toEqual([]);
  });
});
