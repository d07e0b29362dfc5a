import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { UsageRollUp } from '../../src/application/jobs/usage.service.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import type { Answer } from '../support/http-caller.js';
import { ask, completions, draftModel, type Member, readyProject } from '../support/workspace.js';
import { notFound, refusal, statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const restricted = refusal(403, 'key_restricted');
const UNKNOWN = '0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

/** An admin has two projects with the same content, and a key for the first one alone. */
describe('a key for one project', () => {
  let app: TestApp;
  let admin: Member;
  let own: string;
  let other: string;
  let keyId: string;
  let key: string;
  /** The ids of what the projects have, by project. */
  const jobs = new Map<string, string>();
  const responses = new Map<string, string>();
  const budgets = new Map<string, string>();
  const externals = new Map<string, string>();

  beforeAll(async () => {
    ({ app, admin } = await TestApp.withTeam({
      adapt: (container) => {
        const answer = async () => 'one two';
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ chat: { answer } }));
        container.rebind(ModelServer).toConstantValue(new MemoryModelServer(async () => ({ status: 200, text: '{}' })));
      },
    }));
    await app.verifyEmails();
    const { token } = admin;
    for (const name of ['Own', 'Other']) {
      const id = await readyProject(app, token, { runtime: 'onnx', path: 'chat', name });
      if (name === 'Own') own = id;
      else other = id;
      await app.put(`/v1/projects/${id}`, token, { version: 1, name: `${name} Capitals`, spec: {} });
      await app.post(`/v1/projects/${id}/datasets`, token, { name: `${name} records`, records: [] });
      const headers = { 'X-Conversation-Id': 'new' };
      await app.call('POST', completions(id), { token, headers, json: ask(id, 'Hi') });
      const made = await app.post('/openai/v1/responses', token, { model: id, input: 'Hi' });
      responses.set(id, made.body.id);
      const external = await app.post('/v1/jobs', token, {
        kind: 'external',
        name: 'training',
        project_id: id,
        status: 'running',
      });
      externals.set(id, external.body.id);
      const about = { scope: 'project', scope_id: id, unit: 'calls', limit: 999, period: 'day' };
      budgets.set(id, (await app.post('/v1/budgets', token, about)).body.id);
      const listed = (await app.get(`/v1/jobs?kind=chat&project_id=${id}`, token)).body.jobs;
      jobs.set(id, listed[0].id);
    }
    await app.post('/v1/jobs', token, { kind: 'external', name: 'training of none', status: 'running' });
    const permissions = ['chat', 'predict', 'read', 'write'];
    ({ id: keyId, key } = (await app.post('/v1/keys', token, { projects: [own], permissions })).body);
  });
  afterAll(() => app.stop());

  const get = async (path: string) => (await app.get(path, key)) as Answer;
  const of = (ids: Map<string, string>, project: string) => ids.get(project) ?? '';
  const idsIn = (items: { id: string }[]) => items.map(({ id }) => id);

  const guarded = contracts.filter(({ access }) => access !== 'public' && access.key !== 'none');
  const cases = guarded.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const);
  it.each(cases.filter(([, { path }]) => path.includes('{project_id}')))(
    'is refused at %s of another',
    async (_, one) => {
      const at = (id: string) =>
        one.path
          .replace('{project_id}', id)
          .replace(/\{(\w+?)_id\}/g, `prj_${UNKNOWN}`)
          .replace(/\{\w+\*?\}/g, '1');
      const call = (id: string) => app.call(one.method.toUpperCase(), at(id), { token: key, raw: '{' });
      for (const id of [other, `prj_${UNKNOWN}`, 'nonsense']) expect(await call(id)).toMatchObject({ status: 403 });
      if (one.method === 'get') expect((await call(own)).status).not.toBe(403);
    },
  );

  const teamWide = /^\/v1\/(alerts|deployments|model-files|logs|audit)\b/;
  it.each(cases.filter(([, { path }]) => !path.includes('{project_id}')))(
    'enters %s if it can be divided',
    async (_, one) => {
      const isWide = teamWide.test(one.path) || one.id === 'createProject';
      const at = one.path.replace(/\{(\w+?)_id\}/g, `prj_${UNKNOWN}`).replace(/\{\w+\*?\}/g, 'none');
      const answer = await app.call(one.method.toUpperCase(), at, { token: key, raw: '{' });
      expect(answer.status === 403 ? statusAndCode(answer) : 'enters').toBe(isWide ? '403 key_restricted' : 'enters');
    },
  );

  it('lists and finds only what this project has', async () => {
    const { projects, conversations } = (await get('/v1/projects')).body;
    expect(idsIn(projects)).toEqual([own]);
    expect(conversations).toHaveLength(1);
    expect(conversations[0].project_id).toBe(own);
    expect((await get(`/v1/projects?limit=1&cursor=${projects[0].id}`)).body.projects).toEqual([]);
    const { found } = (await get('/v1/search?q=o')).body;
    expect(found.length).toBeGreaterThan(1);
    expect([...new Set(found.map((one: { project_id: string }) => one.project_id))]).toEqual([own]);
    expect(idsIn((await get('/openai/v1/models')).body.data)).toEqual(['Own Capitals']);
    const runtimes = (await get('/v1/status')).body.runtimes;
    expect(runtimes.map((one: { project_id: string }) => one.project_id)).toEqual([own]);
  });

  it('sees only the jobs of this project', async () => {
    const listed = (await get('/v1/jobs')).body.jobs;
    expect(listed.length).toBeGreaterThan(2);
    expect([...new Set(listed.map((one: { project_id: string }) => one.project_id))]).toEqual([own]);
    expect((await get('/v1/jobs?q=training')).body.jobs).toHaveLength(1);
    expect(await get(`/v1/jobs?project_id=${other}`)).toMatchObject(restricted);
    expect((await get(`/v1/jobs/${of(jobs, own)}`)).status).toBe(200);
    expect(await get(`/v1/jobs/${of(jobs, other)}`)).toMatchObject(notFound);
    const report = (project: string) =>
      app.call('PATCH', `/v1/jobs/${of(externals, project)}`, { token: key, json: { progress: { done: 1 } } });
    expect((await report(own)).status).toBe(200);
    expect(await report(other)).toMatchObject(notFound);
    expect(await app.post(`/v1/jobs/${of(externals, other)}/cancel`, key)).toMatchObject(notFound);
    const create = (project_id?: string) =>
      app.post('/v1/jobs', key, { kind: 'external', name: 'x', project_id, status: 'queued' });
    expect((await create(own)).status).toBe(201);
    for (const id of [other, undefined]) expect(await create(id)).toMatchObject(restricted);
    const evaluate = { kind: 'evaluation', project_id: other, dataset_id: `dst_${UNKNOWN}` };
    expect(await app.post('/v1/jobs', key, evaluate)).toMatchObject(restricted);
  });

  it('sums up only the calls of this project, before and after they are rolled up', async () => {
    const calls = async (query: string) => {
      const { usage } = (await get(`/v1/usage?bucket=day${query}`)).body as {
        usage: { calls: number; group: unknown }[];
      };
      return usage.map((one) => [one.calls, one.group]);
    };
    const before = (await get('/v1/jobs?kind=chat')).body.count;
    for (const rolledUp of [false, true]) {
      if (rolledUp) await app.container.get(UsageRollUp).execute();
      expect(await calls('')).toEqual([[before, null]]);
      expect(await calls('&group_by=project')).toEqual([[before, own]]);
    }
    for (const group of ['model', 'key', 'account'])
      expect(await get(`/v1/usage?group_by=${group}`)).toMatchObject(restricted);
  });

  it('chats only in this project, also by name, and sees only its responses', async () => {
    const chat = (model: string) => app.post('/openai/v1/chat/completions', key, ask(model, 'Hi'));
    for (const model of [own, 'Own Capitals']) expect((await chat(model)).status).toBe(200);
    for (const model of [other, 'Other Capitals']) expect(statusAndCode(await chat(model))).toBe('403 key_restricted');
    expect(statusAndCode(await chat('Nobody'))).toBe('404 not_found');
    const embed = await app.post('/openai/v1/embeddings', key, { model: other, input: 'Hi' });
    expect(statusAndCode(embed)).toBe('403 key_restricted');
    const response = (project: string) => `/openai/v1/responses/${of(responses, project)}`;
    expect((await get(response(own))).status).toBe(200);
    for (const path of [response(other), `${response(other)}/input_items`]) expect((await get(path)).status).toBe(404);
    expect((await app.delete(response(other), key)).status).toBe(404);
    const go = (previous: string, more: object = {}) =>
      app.post('/openai/v1/responses', key, { model: own, input: 'on', previous_response_id: previous, ...more });
    expect((await go(of(responses, own))).status).toBe(200);
    expect(statusAndCode(await go(of(responses, other)))).toBe('400 previous_response_not_found');
    const late = await app.post('/openai/v1/responses', key, { model: other, input: 'on', background: true });
    expect(statusAndCode(late)).toBe('403 key_restricted');
  });

  it('reaches only the budgets of this project and its own', async () => {
    const about = { unit: 'calls', limit: 999, period: 'day' };
    const { body: ofKey } = await app.post('/v1/budgets', admin.token, { scope: 'key', scope_id: keyId, ...about });
    expect(idsIn((await get('/v1/budgets')).body.budgets)).toEqual([ofKey.id, of(budgets, own)]);
    expect((await get(`/v1/budgets/${of(budgets, own)}`)).status).toBe(200);
    expect(await get(`/v1/budgets/${of(budgets, other)}`)).toMatchObject(notFound);
    expect(await app.delete(`/v1/budgets/${of(budgets, other)}`, key)).toMatchObject(notFound);
    const create = (scope: string, scope_id: string) => app.post('/v1/budgets', key, { scope, scope_id, ...about });
    expect((await create('project', own)).status).toBe(201);
    expect(await create('project', other)).toMatchObject(restricted);
    expect(await create('account', admin.id)).toMatchObject(restricted);
  });

  it('changes this project, and no other', async () => {
    expect((await draftModel(app, key, own)).version).toBe(1);
    const request = { request_id: '0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', spec: {} };
    expect(await app.post(`/v1/projects/${other}/models`, key, request)).toMatchObject(restricted);
    expect(await app.post('/v1/projects', key, { name: 'new' })).toMatchObject(restricted);
  });

  it('does nothing when its only project is gone', async () => {
    const project = (await app.post('/v1/projects', admin.token, { name: 'short' })).body.id;
    const { body } = await app.post('/v1/keys', admin.token, { projects: [project], permissions: ['read'] });
    expect((await app.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    expect((await app.get('/v1/projects', body.key)).body.projects).toEqual([]);
    expect(await app.get(`/v1/projects/${project}`, body.key)).toMatchObject(notFound);
    expect(await app.get(`/v1/projects/${own}`, body.key)).toMatchObject(restricted);
  });
});
