import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { ask, completions, type Member, readyProject } from '../support/workspace.js';
import { invalid, notFound, refusal, stale, statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const CHAT = '/openai/v1/chat/completions';
const UNKNOWN = '0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

let app: TestApp;
let admin: Member;
let member: Member;
let stranger: Member;
let project: string;
let other: string;
let strangers: string;
let deployment: string;

beforeAll(async () => {
  ({ app, admin, member, stranger } = await TestApp.withTeam({
    adapt: (container) => {
      const answer = async () => 'one two';
      const models = { chat: { answer }, embed: { embed: () => undefined } };
      container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models));
      const servers = new MemoryModelServer(async () => ({ status: 200, text: '{"outputs":{}}' }));
      container.rebind(ModelServer).toConstantValue(servers);
    },
  }));
  await app.verifyEmails();
  [project, other, strangers] = [await ready(admin), await ready(admin), await ready(stranger)];
  deployment = (await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' })).body.id;
});
afterAll(() => app.stop());

const ready = (by: Member) => readyProject(app, by.token, { runtime: 'onnx', path: 'chat' });

interface Key {
  readonly id: string;
  readonly key: string;
  readonly version: number;
}

const mint = async (json: object, by = admin) => {
  const { status, body } = await app.post('/v1/keys', by.token, json);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body as Key;
};
const change = (id: string, json: object, by = admin) => app.call('PATCH', `/v1/keys/${id}`, { token: by.token, json });
const chat = (token: string, id = project) => app.post(CHAT, token, ask(id, 'Hi'));

describe('a key', () => {
  const none = {
    ...{ projects: null, permissions: null, requests_per_minute: null, tokens_per_minute: null, max_concurrent: null },
  };

  it('carries what restricts it, in each answer about it and about itself', async () => {
    const sent = { projects: [project, project], permissions: ['read', 'chat'], max_concurrent: 4 };
    const { key, ...minted } = await mint({ name: 'CI', ...sent, requests_per_minute: 60 });
    const expected = { ...none, ...sent, projects: [project], permissions: ['chat', 'read'], requests_per_minute: 60 };
    expect(minted).toMatchObject({ version: 1, ...expected });
    const read = await app.get(`/v1/keys/${minted.id}`, admin.token);
    expect(read).toMatchObject({ status: 200, body: minted });
    expect(read.headers.get('etag')).toBe('"1"');
    expect((await app.get('/v1/keys?limit=1', admin.token)).body.keys).toEqual([minted]);
    const { body: status } = await app.get('/v1/status', key);
    expect(status.caller.key).toEqual({ id: minted.id, ...expected });
    expect(status.limits.key).toMatchObject({ limit: 60, remaining: 59 });
    expect(status.permissions).toMatchObject({ read_workspace: true, edit_workspace: false, mint_keys: false });
    expect(status.runtimes.map((one: { project_id: string }) => one.project_id)).toEqual([project]);
    expect((await app.get(`/v1/keys/${minted.id}`, member.token)).status).toBe(404);
  });

  it('is changed by the version that its owner has read; what is absent stays, and null frees', async () => {
    const { id, key } = await mint({ permissions: ['chat'], tokens_per_minute: 1_000 });
    expect(await change(id, { permissions: ['read'] })).toMatchObject(invalid('version'));
    const { status, body } = await change(id, { version: 1, name: 'CI', projects: [other], max_concurrent: 2 });
    expect({ status, body }).toMatchObject({ status: 200, body: { version: 2, name: 'CI', tokens_per_minute: 1_000 } });
    expect(await change(id, { version: 1, projects: null })).toMatchObject(stale(2));
    const headers = { 'If-Match': '"1"' };
    const late = { token: admin.token, json: { version: 2, projects: null }, headers };
    expect(await app.call('PATCH', `/v1/keys/${id}`, late)).toMatchObject(stale(2));
    expect(await chat(key)).toMatchObject({ status: 403 });
    const free = { projects: null, permissions: null, tokens_per_minute: null, max_concurrent: null };
    expect((await change(id, { version: 2, ...free })).body).toMatchObject({ version: 3, name: 'CI', ...none });
    expect((await chat(key)).status).toBe(200);
    expect(await change(id, { version: 3 }, member)).toMatchObject(notFound);
    expect(await change(`key_${UNKNOWN}`, { version: 1 })).toMatchObject(notFound);
    expect(statusAndCode(await app.call('PATCH', `/v1/keys/${id}`, { token: key, json: {} }))).toBe(
      '401 session_required',
    );
  });

  it('leaves its restrictions in the audit trail when it is made and changed', async () => {
    const { id } = await mint({ name: 'CI', projects: [project], max_concurrent: 4 });
    await change(id, { version: 1, projects: null, permissions: ['chat', 'read'] });
    const { entries } = (await app.get('/v1/audit?limit=2', admin.token)).body;
    const rest = { requests_per_minute: null, tokens_per_minute: null, max_concurrent: 4 };
    expect(entries).toMatchObject([
      {
        action: 'api_key.changed',
        object: { id },
        details: { version: 2, projects: null, permissions: 'chat read', ...rest },
      },
      { action: 'api_key.minted', object: { id }, details: { projects: project, permissions: null, ...rest } },
    ]);
  });

  it('is changed once by several at once', async () => {
    const { id } = await mint({});
    const answers = await Promise.all([1, 2, 3, 4].map((max_concurrent) => change(id, { version: 1, max_concurrent })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  const wrong: [string, object, string][] = [
    ['an unknown permission', { permissions: ['chat', 'admin'] }, 'permissions.1'],
    ['no permission', { permissions: [] }, 'permissions'],
    ['permissions that are a text', { permissions: 'chat' }, 'permissions'],
    ['no project', { projects: [] }, 'projects'],
    ['an unknown project', { projects: [`prj_${UNKNOWN}`] }, 'projects.0'],
    ['too many projects', { projects: Array.from({ length: 101 }, () => `prj_${UNKNOWN}`) }, 'projects'],
    ['zero requests', { requests_per_minute: 0 }, 'requests_per_minute'],
    ['a fraction of tokens', { tokens_per_minute: 1.5 }, 'tokens_per_minute'],
    ['too many tokens', { tokens_per_minute: 1e12 }, 'tokens_per_minute'],
    ['too many calls', { max_concurrent: 10_001 }, 'max_concurrent'],
  ];
  it.each(wrong)('with %s is refused, new or changed', async (_, json, path) => {
    const { id } = await mint({});
    expect(await app.post('/v1/keys', admin.token, json)).toMatchObject(invalid(path));
    expect(await change(id, { version: 1, ...json })).toMatchObject(invalid(path));
  });

  it('is not for a project of another team', async () => {
    const json = { projects: [project, strangers] };
    expect(await app.post('/v1/keys', admin.token, json)).toMatchObject(invalid('projects.1'));
  });
});

describe('a key with permissions', () => {
  const sets = [['chat'], ['predict'], ['read'], ['write'], ['chat', 'predict', 'read', 'write']] as const;
  const keys = new Map<string, string>();
  beforeAll(async () => {
    for (const permissions of sets) keys.set(String(permissions), (await mint({ permissions })).key);
  });

  type Needed = 'chat' | 'predict' | 'read' | 'write' | 'any' | 'none';

  /** States the rule again, apart from the permissions of the code. A new route that fits no line must add one. */
  function needed({ method, path }: (typeof contracts)[number]): Needed {
    if (/^\/v1\/(auth|keys)\b/.test(path) || path === '/metrics') return 'none';
    if (path.startsWith('/openai/v1') || /^\/v1\/calls\/|\/chat\/completions$/.test(path)) return 'chat';
    if (/^\/v1\/deployments\/\{\w+\}\/(predict|v2)/.test(path)) return 'predict';
    if (path === '/v1/status') return 'any';
    if (path === '/v1/alerts/rules/preview') return 'read'; // stores nothing
    return method === 'get' ? 'read' : 'write';
  }

  const guarded = contracts.filter(({ access }) => access !== 'public');
  const cases = guarded.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const);
  it.each(cases)('does at %s only what its permissions name', async (_, contract) => {
    const at = contract.path.replace(/\{(\w+?)_id\}/g, `prj_${UNKNOWN}`).replace(/\{\w+\*?\}/g, 'none');
    const need = needed(contract);
    for (const permissions of sets) {
      const has = permissions.some((one) => one === need || (one === 'write' && need === 'read'));
      const answer = await app.call(contract.method.toUpperCase(), at, { token: keys.get(String(permissions)) });
      const got = [401, 403].includes(answer.status) ? statusAndCode(answer) : 'enters';
      const expected =
        need === 'none' ? '401 session_required' : has || need === 'any' ? 'enters' : '403 key_restricted';
      expect([permissions, got]).toEqual([permissions, expected]);
    }
  });

  it.each(cases)('and without any enters %s where keys have always entered', async (_, contract) => {
    const { access, method, path } = contract;
    if (access === 'public') return;
    const at = path.replace(/\{(\w+?)_id\}/g, `prj_${UNKNOWN}`).replace(/\{\w+\*?\}/g, 'none');
    const answer = await app.call(method.toUpperCase(), at, { token: admin.apiKey });
    const entered =
      /^\/v1\/(calls|jobs|evaluations|usage|alerts|deployments|model-files|logs|audit|status)\b|^\/openai\/v1|chat\/completions$/;
    expect(answer.status === 401 ? statusAndCode(answer) : 'enters').toBe(
      entered.test(path) ? 'enters' : '401 session_required',
    );
  });

  it('never may more than its owner', async () => {
    const { key } = await mint({ permissions: ['read', 'write'] }, member);
    expect(statusAndCode(await app.post('/v1/projects', key, {}))).toBe('403 forbidden');
    expect((await app.get('/v1/projects', key)).status).toBe(200);
    const { key: foreign } = await mint({ permissions: ['read'] }, stranger);
    expect(statusAndCode(await app.get('/v1/alerts', foreign))).toBe('403 operator_only');
    expect(await app.get(`/v1/projects/${project}`, foreign)).toMatchObject(notFound);
    await app.setAccount(member.id, { role: 'developer' });
    expect((await app.post('/v1/projects', key, {})).status).toBe(201);
    await app.setAccount(member.id, { role: 'member' });
  });

  it('is refused in the form of each dialect', async () => {
    const { key } = await mint({ permissions: ['read'] });
    const { status, body } = await chat(key);
    expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: 'key_restricted' } } });
    const said = { model: project, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    const theirs = { type: 'error', error: { type: 'permission_error', message: expect.stringContaining('chat') } };
    expect(await app.post('/openai/v1/messages', key, said)).toMatchObject({ status: 403, body: theirs });
    expect(await app.post(completions(project), key, ask(project, 'Hi'))).toMatchObject(refusal(403, 'key_restricted'));
  });

  it('changes no budget of its own, even if its owner is an admin, but may add one', async () => {
    const { id, key } = await mint({ permissions: ['write'] });
    const about = { scope: 'key', scope_id: id, unit: 'calls', limit: 1, period: 'total' };
    const { body: own } = await app.post('/v1/budgets', admin.token, about);
    const raise = { token: key, json: { limit: 9 } };
    expect(await app.call('PATCH', `/v1/budgets/${own.id}`, raise)).toMatchObject(refusal(403, 'key_restricted'));
    expect(await app.delete(`/v1/budgets/${own.id}`, key)).toMatchObject(refusal(403, 'key_restricted'));
    expect((await app.post('/v1/budgets', key, about)).status).toBe(201);
    expect((await app.get(`/v1/budgets/${own.id}`, key)).body).toMatchObject({ limit: 1 });
  });

  it('predicts only with `predict`', async () => {
    const predict = (token: string) => app.post(`/v1/deployments/${deployment}/predict`, token, { inputs: {} });
    expect((await predict(keys.get('predict') ?? '')).status).toBe(200);
    expect(await predict(keys.get('write') ?? '')).toMatchObject(refusal(403, 'key_restricted'));
    expect((await app.post(`/v1/deployments/dep_${UNKNOWN}/predict`, keys.get('predict'), [])).status).toBe(404);
  });
});
