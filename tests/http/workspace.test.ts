import { randomUUID } from 'node:crypto';
import type { Account } from '../../src/domain/accounts/account.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import type { Answer } from '../support/http-caller.js';
import { aCallOf, keep } from '../support/kept-calls.js';
import {
  ask,
  completions,
  createProject,
  draftModel,
  type Member,
  readyProject,
  registeredModel,
} from '../support/workspace.js';
import { notFound, stale } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const workspace = contracts
  .filter(({ path }) => path.startsWith('/v1/project'))
  .map((contract) => ({ ...contract, method: contract.method.toUpperCase() }));
const named = (routes: typeof workspace) => routes.map((one) => [`${one.method} ${one.path}`, one] as const);

let app: TestApp;
let accounts: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
let token: string;
/** Names a project with a ready runtime, and its objects. */
let ids: Record<string, string>;

beforeAll(async () => {
  ({ app, ...accounts } = await TestApp.withTeam());
  token = accounts.admin.token;
  const project_id = await readyProject(app, token);
  const at = `/v1/projects/${project_id}`;
  const model_id = await registeredModel(app, token, project_id);
  const { body: dataset } = await app.post(`${at}/datasets`, token, { records: [{ id: 'r1' }] });
  await app.put(`${at}/models/aliases/champion`, token, { model_id });
  const chat = await app.call('POST', completions(project_id), {
    token: accounts.developer.token,
    json: ask(project_id, 'What is 7 + 5?', { max_tokens: 1 }),
    headers: { 'X-Conversation-Id': 'new' },
  });
  const conversation_id = chat.headers.get('x-conversation-id') as string;
  ids = {
    project_id,
    model_id,
    dataset_id: dataset.id,
    conversation_id,
    alias: 'champion',
    record: 'r1',
    version: '1',
    call_id: await keptCall(project_id),
  };
});
afterAll(() => app.stop());

/** Stores a call of the member, which everybody on the team sees. Returns its id. */
async function keptCall(projectId: string): Promise<string> {
  const member = (await app.store.accounts.byId(accounts.member.id)) as Account;
  const call = aCallOf((await app.store.projects.find(member.teamId, projectId)) as Project, member, { modelId: null });
  await keep(app.store, call);
  return call.id;
}

const pathOf = (path: string, over: Record<string, string> = {}) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => over[name] ?? ids[name] ?? 'unknown');

describe('the workspace', () => {
  /** Sends a call that changes nothing: its version is wrong and its body is invalid. */
  const call = (method: string, path: string, by: string) =>
    app.call(method, path, {
      token: by,
      headers: { 'If-Match': '"99"' },
      ...(['POST', 'PUT', 'PATCH'].includes(method) && {
        json: { version: 99, name: 7, spec: 7, request_id: 7, starter_id: 7 },
      }),
    });

  it.each(named(workspace.filter(({ method }) => method === 'GET')))(
    '%s may be read by everybody on the team',
    async (_, { id, path }) => {
      for (const [role, { token }] of Object.entries(accounts)) {
        if (role === 'stranger' && path.includes('{')) continue; // tested below
        const { status } = await app.get(pathOf(path) + (id === 'compareDatasets' ? '?with=1' : ''), token);
        const expected = path.includes('conversation_id') && role !== 'developer' ? 404 : 200;
        expect({ role, status }).toEqual({ role, status: expected });
      }
    },
  );

  const changing = workspace.filter(({ method, path }) => method !== 'GET' && !/runtime|conversation_id/.test(path));
  it.each(named(changing))('%s is only for the roles of its contract', async (_, { method, path, access }) => {
    for (const [role, { token }] of Object.entries(accounts)) {
      if (role === 'stranger' && path.includes('{')) continue; // tested below
      // Its deletion needs no version, so each role gets a call of its own.
      if (path.includes('call_id')) ids.call_id = await keptCall(ids.project_id as string);
      const { status } = await call(method, pathOf(path), token);
      const allowed =
        access !== 'public' && (access.roles as readonly string[]).includes(role === 'stranger' ? 'admin' : role);
      if (!allowed) expect({ role, status }).toEqual({ role, status: 403 });
      else expect({ role, allowed: ![401, 403, 404].includes(status) }).toEqual({ role, allowed: true });
    }
  });

  /** Returns bodies that would change something in the right project. */
  const acts = (): Record<string, object> => ({
    updateProject: { version: 1, spec: {} },
    updateDataset: { version: 1, name: 'x' },
    freezeDataset: {},
    forkDataset: {},
    deleteDataset: {},
    createModel: { request_id: randomUUID(), spec: {} },
    registerModel: { version: 1 },
    forkModel: {},
    connectRuntime: { model_id: ids.model_id },
    createChatCompletion: ask(ids.project_id as string, 'x'),
  });
  /** Expects the same 404 for an object that exists elsewhere and for a missing one, with any body. */
  const looksMissing = async (
    { id, method, path }: (typeof workspace)[number],
    by: string,
    [there, missing]: [Record<string, string>, Record<string, string>],
  ) => {
    const strip = ({ status, body: { request_id: _, ...body } }: Answer) => ({ status, body });
    const json = acts()[id];
    const sends = [
      (at: string) => call(method, at, by),
      ...(json ? [(at: string) => app.call(method, at, { token: by, json })] : []),
    ];
    for (const send of sends) {
      const answer = strip(await send(pathOf(path, there)));
      expect(answer).toMatchObject(notFound);
      expect(answer).toEqual(strip(await send(pathOf(path, missing))));
    }
  };

  const within = workspace.filter(({ path }) => path.includes('{project_id}'));
  it.each(named(within))('%s answers to another team as if the object did not exist', (_, route) =>
    looksMissing(route, accounts.stranger.token, [{}, { project_id: `prj_${randomUUID()}` }]),
  );

  const deeper = within.filter(({ path }) => /\{(dataset|model|conversation|call)_id\}/.test(path));
  it.each(named(deeper))('%s answers below another project as if the object did not exist', async (_, route) => {
    const project_id = await createProject(app, accounts.developer.token);
    const missing = {
      model_id: `mdl_${randomUUID()}`,
      dataset_id: `dst_${randomUUID()}`,
      conversation_id: `cnv_${randomUUID()}`,
      call_id: `job_${randomUUID()}`,
    };
    await looksMissing(route, accounts.developer.token, [{ project_id }, { project_id, ...missing }]);
  });

  const creations: Record<string, object> = {
    createProject: { spec: { own: 1 } },
    importDataset: { records: [] },
    createModel: { request_id: randomUUID(), spec: {} },
    forkDataset: {},
    forkModel: {},
  };
  it.each(named(workspace.filter(({ id }) => id in creations)))('%s ignores unknown fields', async (_, one) => {
    const smuggled = { id: 'x', project_id: 'x', team_id: 'x', created_by: 'x', version: 9, role: 'admin' };
    const states = { state: 'frozen', status: 'reviewed', reviewed_version: 9, registered_at: 1, frozen_at: 1 };
    const json = JSON.stringify({ ...smuggled, ...states, content_sha256: 'x', ...creations[one.id] });
    const raw = json.replace('{', '{"__proto__":{"version":7},"constructor":1,');
    const { status, body } = await app.call('POST', pathOf(one.path), { token, raw });
    expect({ status, body }).toMatchObject({ status: 201, body: { version: 1, created_by: accounts.admin.id } });
    expect(['draft', 'editable']).toContain(body.state ?? body.status);
    for (const name of ['id', 'project_id', 'content_sha256']) expect(body[name]).not.toBe('x');
    for (const name of ['reviewed_version', 'registered_at', 'frozen_at']) expect(body[name] ?? null).toBeNull();
    expect((await app.get('/v1/projects', accounts.stranger.token)).body.count).toBe(0);
  });

  it.each(named(workspace.filter(({ path }) => path.endsWith('/{version}'))))(
    '%s answers 404 to an unknown version',
    async (_, { path }) => {
      for (const version of ['0', '2', '01', '-1', '1.0', 'x', '99999999999'])
        expect(await app.get(pathOf(path, { version }), token)).toMatchObject(notFound);
    },
  );
});

describe.each<[string, () => Promise<string>, object]>([
  ['a project', async () => `/v1/projects/${await createProject(app, token)}`, { spec: { a: 1 } }],
  [
    'a dataset',
    async () => {
      const datasets = `/v1/projects/${await createProject(app, token)}/datasets`;
      return `${datasets}/${(await app.post(datasets, token, { records: [] })).body.id}`;
    },
    { records: [{ id: 'a' }] },
  ],
  [
    'a model',
    async () => {
      const project = await createProject(app, token);
      return `/v1/projects/${project}/models/${(await draftModel(app, token, project)).id}`;
    },
    { spec: { a: 1 } },
  ],
])('an update of %s', (_, make, content) => {
  let at: string;
  beforeEach(async () => {
    at = await make();
  });
  const put = (version?: unknown, ifMatch?: string) =>
    app.call('PUT', at, {
      token,
      json: { ...content, version },
      headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch },
    });

  it('reads the expected version from the body, from If-Match, or from both', async () => {
    expect((await put(1)).body).toMatchObject({ ...content, version: 2 });
    expect((await put(undefined, '"2"')).body.version).toBe(3);
    const both = await put(3, 'W/"3"');
    expect([both.body.version, both.headers.get('etag')]).toEqual([4, '"4"']);
    const outdated = [[3], [5], [undefined, '"3"'], [4, '"3"'], [3, '"4"'], [4, 'nonsense']] as const;
    for (const [version, ifMatch] of outdated) expect(await put(version, ifMatch)).toMatchObject(stale(4));
    expect((await app.get(at, token)).body.version).toBe(4);
    expect((await put(4, '*')).status).toBe(200);
  });

  it('needs a valid version and something to change', async () => {
    for (const version of [undefined, '1', 0, 1.5, 1e300]) expect((await put(version)).status).toBe(422);
    expect((await put(undefined, '*')).status).toBe(422);
    expect((await app.put(at, token, { version: 1 })).status).toBe(422);
    expect((await app.get(at, token)).body.version).toBe(1);
  });

  it('ignores fields that it does not name', async () => {
    const { body } = await app.get(at, token);
    const names = Object.keys(body).filter((name) => !(name in content) && !['version', 'name'].includes(name));
    const smuggled = Object.fromEntries(['team_id', ...names].map((name) => [name, 'x']));
    const json = JSON.stringify({ ...smuggled, ...content, version: 1 });
    const raw = json.replace('{', '{"__proto__":{"state":"frozen","version":9},"constructor":1,');
    const updated = (await app.call('PUT', at, { token, raw })).body;
    expect(updated).toMatchObject({ ...content, version: 2 });
    const own = ['version', 'updated_at', 'record_count', 'content_sha256', 'validation', ...Object.keys(content)];
    for (const name of Object.keys(body).filter((name) => !own.includes(name)))
      expect([name, updated[name]]).toEqual([name, body[name]]);
  });
});
