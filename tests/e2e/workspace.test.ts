import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../src/domain/workspace/starter.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { query } from '../support/database.js';
import type { Answer } from '../support/http-caller.js';
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

let service: Service;
let accounts: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
let admin: Member;
let member: Member;
let stranger: Member;
/** The ids of a project with a ready runtime, and of its objects. */
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

/** Calls every route of the workspace in every role, with bodies that change nothing. */
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

  /** Lists valid bodies, so that only the role or the team can be refused. */
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

describe('starters', () => {
  const shipped = (id: string): Starter =>
    JSON.parse(readFileSync(join(__dirname, '../../starters', `${id}.json`), 'utf8'));

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
