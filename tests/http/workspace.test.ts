import { randomUUID } from 'node:crypto';
import { contracts } from '../../src/interfaces/http/controllers.js';
import type { Answer } from '../support/http-caller.js';
import { ask, completions, type Member, readyProject, register, registeredModel } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const workspace = contracts.filter(({ path }) => path.startsWith('/v1/project'));
const writes = (method: string) => method !== 'get';

let app: TestApp;
let accounts: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
/** Names a project whose runtime is ready, and what it has. */
let ids: Record<string, string>;

beforeAll(async () => {
  app = await TestApp.start({ env: { SERVICE_MAX_ACCOUNTS: '4' } });
  const admin = await register(app, 'Ada');
  const developer = await register(app, 'Dan');
  const member = await register(app, 'Mia');
  const stranger = await register(app, 'Eve');
  accounts = { admin, developer, member, stranger };
  await app.setAccount(developer.id, { role: 'developer' });
  await app.moveToOwnTeam(stranger.id);
  const project_id = await readyProject(app, admin.token);
  const at = `/v1/projects/${project_id}`;
  const model_id = await registeredModel(app, admin.token, project_id);
  const { body: dataset } = await app.post(`${at}/datasets`, admin.token, { records: [] });
  await app.put(`${at}/models/aliases/champion`, admin.token, { model_id });
  const chat = await app.call('POST', completions(project_id), {
    token: developer.token,
    json: ask(project_id, 'What is 7 + 5?', { max_tokens: 1 }),
    headers: { 'X-Conversation-Id': 'new' },
  });
  const conversation_id = chat.headers.get('x-conversation-id') as string;
  ids = { project_id, model_id, dataset_id: dataset.id, conversation_id, alias: 'champion', version: '1' };
});
afterAll(() => app.stop());

describe('the workspace', () => {
  const pathOf = (path: string, over: Record<string, string> = {}) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => over[name] ?? ids[name] ?? 'unknown');
  /** Changes nothing: the version is stale, and the body is impossible. */
  const call = (method: string, path: string, token: string) =>
    app.call(method.toUpperCase(), path, {
      token,
      headers: { 'If-Match': '"99"' },
      ...(writes(method) &&
        method !== 'delete' && { json: { version: 99, name: 7, spec: 7, request_id: 7, starter_id: 7 } }),
    });
  const named = (routes: typeof workspace) =>
    routes.map((one) => [`${one.method.toUpperCase()} ${one.path}`, one] as const);

  it.each(named(workspace.filter(({ method }) => method === 'get')))(
    '%s is read by everybody of the team',
    async (_, { id, path }) => {
      for (const [role, { token }] of Object.entries(accounts)) {
        if (role === 'stranger' && path.includes('{')) continue; // see below
        const { status } = await app.get(pathOf(path) + (id === 'compareDatasets' ? '?with=1' : ''), token);
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

  /** Bodies that would change something in a project of one's own. */
  const acts = (): Record<string, object> => ({
    updateProject: { version: 1, spec: {} },
    createModel: { request_id: randomUUID(), spec: {} },
    registerModel: { version: 1 },
    connectRuntime: { model_id: ids.model_id },
    createChatCompletion: ask(ids.project_id as string, 'x'),
  });
  const within = workspace.filter(({ path }) => path.includes('{project_id}'));
  it.each(named(within))('%s: another team’s is as one that does not exist', async (_, { id, method, path }) => {
    const strip = ({ status, body: { request_id: _, ...body } }: Answer) => ({ status, body });
    const missing = { project_id: `prj_${randomUUID()}` };
    const answers = async (send: (at: string) => Promise<Answer>) => {
      const foreign = strip(await send(pathOf(path)));
      expect(foreign).toEqual(strip(await send(pathOf(path, missing))));
      expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
    };
    const { token } = accounts.stranger;
    await answers((at) => call(method, at, token));
    const json = acts()[id];
    if (json) await answers((at) => app.call(method.toUpperCase(), at, { token, json }));
  });
});
