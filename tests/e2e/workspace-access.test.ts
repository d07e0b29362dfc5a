import { randomUUID } from 'node:crypto';
import { contracts } from '../../src/interfaces/http/contracts.js';
import { query } from '../support/database.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  type Member,
  moveToOwnTeam,
  readyProject,
  register,
  registeredModel,
} from '../support/workspace.js';

const workspace = contracts.filter(({ path }) => path.startsWith('/v1/project'));
const writes = (method: string) => method !== 'get';

/** Who may do what in a workspace, asked of every route of it; what a call would change is left out of its body. */
describe('the workspace', () => {
  let service: Service;
  let accounts: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
  let ids: Record<string, string>;

  beforeAll(async () => {
    service = await Service.start({
      env: { SERVICE_MAX_ACCOUNTS: '10', SERVICE_MASTER_KEY: 'a-master-key-of-the-tests' },
    });
    const admin = await register(service, 'Ada');
    const developer = await register(service, 'Dan');
    const member = await register(service, 'Mia');
    const stranger = await register(service, 'Eve');
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
        const { status } = await service.get(pathOf(path) + (id === 'compareDatasets' ? '?with=1' : ''), token);
        const own = path.includes('conversation_id') ? role === 'developer' : role !== 'stranger';
        const expected = own || !path.includes('{') ? 200 : 404;
        expect({ role, status }).toEqual({ role, status: expected });
      }
    },
  );

  const changing = workspace.filter(({ method, path }) => writes(method) && !path.includes('/runtime'));
  it.each(named(changing))('%s is written by those who may', async (_, { method, path, access }) => {
    for (const [role, { token }] of Object.entries(accounts)) {
      if (path.includes('conversation_id')) continue;
      const { status } = await call(method, pathOf(path), token);
      const allowed =
        access !== 'public' && (access.roles as readonly string[]).includes(role === 'stranger' ? 'admin' : role);
      const refusal = role === 'stranger' && path.includes('{') ? 404 : 403;
      if (!allowed || (role === 'stranger' && path.includes('{')))
        expect({ role, status }).toEqual({ role, status: refusal });
      else expect({ role, allowed: ![401, 403, 404].includes(status) }).toEqual({ role, allowed: true });
    }
  });

  const within = workspace.filter(({ path }) => path.includes('{project_id}'));
  it.each(named(within))('%s: another team’s is as one that does not exist', async (_, { method, path }) => {
    const strip = ({
      status,
      body: { request_id: _, ...body },
    }: {
      status: number;
      body: Record<string, unknown>;
    }) => ({ status, body });
    const missing = { project_id: `prj_${randomUUID()}` };
    const foreign = strip(await call(method, pathOf(path), accounts.stranger.token));
    const none = strip(await call(method, pathOf(path, missing), accounts.stranger.token));
    expect(foreign).toEqual(none);
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it.each(named(workspace))('%s takes only the credentials that it is for', async (_, { method, path }) => {
    const isChat = path.endsWith('/chat/completions');
    const master = await call(method, pathOf(path), 'a-master-key-of-the-tests');
    expect(master).toMatchObject({ status: 401, body: { code: 'session_required' } });
    const { status, body } = await call(method, pathOf(path), accounts.admin.apiKey);
    expect(isChat ? status : body.code).toBe(isChat ? 422 : 'session_required');
  });
});
