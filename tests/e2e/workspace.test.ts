import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../src/domain/workspace/starter.js';
import { contracts } from '../../src/interfaces/http/contracts.js';
import { query } from '../support/database.js';
import type { Answer } from '../support/http-caller.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  moveToOwnTeam,
  readyProject,
  register,
  registeredModel,
} from '../support/workspace.js';

const projects = '/v1/projects';
const workspace = contracts.filter(({ path }) => path.startsWith('/v1/project'));
const writes = (method: string) => method !== 'get';

let service: Service;
let accounts: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
let admin: Member;
let member: Member;
let stranger: Member;
/** Of a project whose runtime is ready, and of what it has. */
let ids: Record<string, string>;

beforeAll(async () => {
  service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '4' } });
  admin = await register(service, 'Ada');
  const developer = await register(service, 'Dan');
  member = await register(service, 'Mia');
  stranger = await register(service, 'Eve');
  accounts = { admin, developer, member, stranger };
  await query(service.databaseUrl as string, `UPDATE accounts SET role = 'developer' WHERE id = $1`, [developer.id]);
  await moveToOwnTeam(service.databaseUrl as string, stranger.id);
  const project_id = await readyProject(service, admin.token);
  const at = `/v1/projects/${project_id}`;
  const model_id = await registeredModel(service, admin.token, project_id);
  const { body: dataset } = await service.post(`${at}/datasets`, admin.token, { records: [] });
  await service.put(`${at}/models/aliases/champion`, admin.token, { model_id });
  const chat = await service.call('POST', completions(project_id), {
    token: developer.token,
    json: ask(project_id, 'What is 7 + 5?', { max_tokens: 1 }),
    headers: { 'X-Conversation-Id': 'new' },
  });
  const conversation_id = chat.headers.get('x-conversation-id') as string;
  ids = { project_id, model_id, dataset_id: dataset.id, conversation_id, alias: 'champion', version: '1' };
});
afterAll(() => service.stop());

/** Who may do what in a workspace, asked of every route of it; what a call would change is left out of its body. */
describe('the workspace', () => {
  const pathOf = (path: string, over: Record<string, string> = {}) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => over[name] ?? ids[name] ?? 'unknown');
  /** A stale version guards what takes one, an impossible body what does not: nothing is changed by these calls. */
  const call = (method: string, path: string, token: string) =>
    service.call(method.toUpperCase(), path, {
      token,
      headers: { 'If-Match': '"99"' },
      ...(writes(method) &&
        method !== 'delete' && { json: { version: 99, name: 7, spec: 7, request_id: 7, starter_id: 7 } }),
    });
  const named = (routes: typeof workspace) =>
    routes.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const);

  it('has routes to ask', () => expect(workspace.length).toBeGreaterThan(35));

  it.each(named(workspace.filter(({ method }) => method === 'get')))(
    '%s is read by everybody of the team',
    async (_, { id, path }) => {
      for (const [role, { token }] of Object.entries(accounts)) {
        if (role === 'stranger' && path.includes('{')) continue; // see below
        const { status } = await service.get(pathOf(path) + (id === 'compareDatasets' ? '?with=1' : ''), token);
        const expected = path.includes('conversation_id') && role !== 'developer' ? 404 : 200;
        expect({ role, status }).toEqual({ role, status: expected });
      }
    },
  );

  const changing = workspace.filter(({ method, path }) => writes(method) && !path.includes('/runtime'));
  it.each(named(changing))('%s is written by those who may', async (_, { method, path, access }) => {
    for (const [role, { token }] of Object.entries(accounts)) {
      if (path.includes('conversation_id')) continue;
      if (role === 'stranger' && path.includes('{')) continue; // see below
      const { status } = await call(method, pathOf(path), token);
      const allowed =
        access !== 'public' && (access.roles as readonly string[]).includes(role === 'stranger' ? 'admin' : role);
      if (!allowed) expect({ role, status }).toEqual({ role, status: 403 });
      else expect({ role, allowed: ![401, 403, 404].includes(status) }).toEqual({ role, allowed: true });
    }
  });

  /** What would be done, were it one's own: the refusals before this tell nothing of the act itself. */
  const acts = (): Record<string, object> => ({
    updateProject: { version: 1, spec: {} },
    createModel: { request_id: randomUUID(), spec: {} },
    registerModel: { version: 1 },
    connectRuntime: { model_id: ids.model_id },
    createChatCompletion: ask(ids.project_id as string, 'x'),
  });
  const within = workspace.filter(({ path }) => path.includes('{project_id}'));
  it.each(named(within))('%s: another team’s is as one that does not exist', async (_, { id, method, path }) => {
    const strip = ({
      status,
      body: { request_id: _, ...body },
    }: {
      status: number;
      body: Record<string, unknown>;
    }) => ({ status, body });
    const missing = { project_id: `prj_${randomUUID()}` };
    const answers = async (send: (at: string) => Promise<Answer>) => {
      const foreign = strip(await send(pathOf(path)));
      expect(foreign).toEqual(strip(await send(pathOf(path, missing))));
      expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    };
    const { token } = stranger;
    await answers((at) => call(method, at, token));
    const json = acts()[id];
    if (json) await answers((at) => service.call(method.toUpperCase(), at, { token, json }));
  });
});

describe('projects and models', () => {
  const update = (id: string, json: object, ifMatch?: string) =>
    service.call('PUT', `${projects}/${id}`, {
      token: admin.token,
      json,
      headers: ifMatch ? { 'If-Match': ifMatch } : {},
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

describe('starters', () => {
  const folder = join(__dirname, '../../starters');
  const shipped = (id: string): Starter => JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));

  it('are listed for every member of a team, by id, with provenance and records', async () => {
    const { status, body } = await service.get('/v1/project-starters', member.token);
    expect(status).toBe(200);
    const ids = readdirSync(folder).map((name) => name.replace('.json', ''));
    expect(body.starters.map(({ id }: { id: string }) => id)).toEqual(ids.sort());
    expect(body.count).toBe(ids.length);

    const { dataset, ...cities } = shipped('capital-cities');
    const listed = body.starters.find(({ id }: { id: string }) => id === 'capital-cities');
    expect(listed).toEqual({
      ...cities,
      dataset: {
        name: dataset.name,
        record_count: dataset.records.length,
        groups: ['europe', 'asia', 'africa', 'americas'],
        records: dataset.records.map((record) => ({ ...record, fields: {} })),
      },
    });
    expect(Object.keys(listed.provenance)).toEqual(['source', 'author', 'licence', 'date', 'method']);
  });

  it.each([
    ['starter_id', { starter_id: 'capital-cities' }],
    ['starter', { starter: 'capital-cities' }],
    ['both', { starter: 'capital-cities', starter_id: 'capital-cities' }],
  ])('begin a project, named by %s', async (_, json) => {
    const { status, body } = await service.post(projects, admin.token, json);
    const { name, spec } = shipped('capital-cities');
    expect({ status, name: body.name, spec: body.spec }).toEqual({ status: 201, name, spec });
    expect(body).toMatchObject({ status: 'draft', version: 1, created_by: admin.id, models: [] });
    expect((await service.get(`${projects}/${body.id}`, member.token)).body).toEqual(body);
  });

  it('begin a project with a name of its own, whose spec then goes its own way', async () => {
    const { body } = await service.post(projects, admin.token, { name: 'Ours', starter_id: 'support-triage' });
    expect(body.name).toBe('Ours');
    const spec = { ...body.spec, goal: 'Something else' };
    const update = await service.put(`${projects}/${body.id}`, admin.token, { version: 1, spec });
    expect(update).toMatchObject({ status: 200, body: { spec: { goal: 'Something else' } } });
    const other = await service.post(projects, admin.token, { starter_id: 'support-triage' });
    expect(other.body.spec).toEqual(shipped('support-triage').spec);
  });

  const id = 'capital-cities';
  it.each([
    ['starter_id', { starter_id: 'capitals' }],
    ['starter_id', { starter: 'capitals' }],
    ['starter_id', { starter_id: '__proto__' }],
    ['starter_id', { starter_id: '' }],
    ['starter_id', { starter_id: 7 }],
    ['starter', { starter: 'word-problems', starter_id: id }],
    ['spec', { starter_id: id, spec: {} }],
    ['spec', { starter: id, spec: { goal: 'Mine' } }],
    ['name', { starter_id: id, name: ' ' }],
  ])('are refused with a bad %s (%#)', async (path, json) => {
    const { status, body } = await service.post(projects, admin.token, json);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it.each<[string, (answer: string, expected: string) => boolean]>([
    ['capital-cities', (answer, expected) => answer.toLowerCase().includes(expected.toLowerCase())],
    ['exact-repetition', (answer, expected) => answer === expected],
  ])('fit what the shipped model has learned: %s', async (starterId, right) => {
    const { spec, dataset } = shipped(starterId);
    const project = ids.project_id as string;
    const system = spec.system_prompt ? [{ role: 'system', content: spec.system_prompt }] : [];
    let score = 0;
    for (const { input, expected } of dataset.records) {
      const messages = [...system, { role: 'user', content: input }];
      const json = { model: project, messages, temperature: 0 };
      const { body } = await service.post(completions(project), admin.token, json);
      if (right(body.choices[0].message.content, expected as string)) score += 1 / dataset.records.length;
    }
    expect(score).toBeGreaterThanOrEqual((spec.acceptance as { threshold: number }).threshold);
  });
});
