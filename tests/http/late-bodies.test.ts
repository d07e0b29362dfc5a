import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { WebhookSender } from '../../src/application/alerts/ports.js';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { RuntimeReconciler } from '../../src/application/chat/runtime-reconciler.js';
import { ModelFileStore, ModelServer } from '../../src/application/deployments/ports.js';
import type { Account } from '../../src/domain/accounts/account.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { query } from '../support/database.js';
import { type Answer, codeOf, note } from '../support/http-caller.js';
import { aCallOf, keep } from '../support/kept-calls.js';
import { anAlert } from '../support/records.js';
import {
  ask,
  createProject,
  type Member,
  password,
  readyProject,
  register,
  registeredModel,
} from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

/** Makes PostgreSQL note the table of each row that is written, in the same transaction. */
const NOTE_WRITES = `
  CREATE TABLE written (name text);
  CREATE FUNCTION note_write() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO written VALUES (TG_TABLE_NAME); RETURN NULL; END $$;
  DO $$
    DECLARE name text;
    BEGIN
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'written' LOOP
        EXECUTE 'CREATE TRIGGER note_write AFTER INSERT OR UPDATE OR DELETE ON ' || name ||
                ' FOR EACH ROW EXECUTE FUNCTION note_write()';
      END LOOP;
    END
  $$`;

const OCTETS = 'application/octet-stream';

interface Act {
  readonly body: object | string | ((params: Record<string, string>) => object);
  /** Creates the objects that the path names. */
  readonly params?: () => Promise<Record<string, string>>;
  /** Creates the objects of the actor that the path names. */
  readonly own?: (by: Member) => Promise<Record<string, string>>;
  readonly by?: 'key';
  /** The status of the act, by default 200. */
  readonly status?: number;
  readonly writesNothing?: true;
  /** The outcome for an actor who has become a member, by default `403 forbidden`. */
  readonly demoted?: string;
  /** Says that any role may do the act. */
  readonly open?: true;
}

describe('the permission for an act with a late body', () => {
  let app: TestApp;
  let root: Member;
  let actors = 0;
  let servers: MemoryModelServer;
  let wroteFile = false;

  beforeAll(async () => {
    servers = new MemoryModelServer(async () => ({ status: 200, text: '{"model_name":"iris","outputs":[]}' }));
    app = await TestApp.start({
      env: { SERVICE_MAX_ACCOUNTS: '999', SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1' },
      adapt: (container) => {
        container.rebind(ModelServer).toConstantValue(servers);
        const models = { 'tiny-embed': { embed: () => undefined } };
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes(models));
      },
    });
    root = await register(app, 'Ada');
    await app.verifyEmails();
    await query(app.database.url, NOTE_WRITES);
    const files = app.container.get(ModelFileStore);
    const write = files.write.bind(files);
    jest.spyOn(files, 'write').mockImplementation(async (...file) => {
      const stored = await write(...file);
      wroteFile = true;
      return stored;
    });
  });
  afterAll(() => app.stop());

  const forgetWrites = async () => {
    wroteFile = false;
    await query(app.database.url, 'DELETE FROM written');
  };
  const hasWritten = async () => wroteFile || (await query(app.database.url, 'SELECT FROM written')).length > 0;

  const create = async (path: string, json: object): Promise<string> => {
    const { body, status } = await app.post(path, root.token, json);
    expect({ path, status, body }).toMatchObject({ status: 201 });
    return body.id;
  };
  const rule = { name: 'failures', rule_type: 'consecutive_failures', threshold: 2 };
  const budgetOf = (scope_id: string) => ({ scope: 'project', scope_id, unit: 'calls', limit: 1, period: 'day' });
  const records = [{ input: 'France', expected: 'Paris' }];
  const inProject = async () => ({ project_id: await createProject(app, root.token) });
  const withDataset = async () => {
    const { project_id } = await inProject();
    return {
      project_id,
      dataset_id: await create(`/v1/projects/${project_id}/datasets`, { records }),
      record: 'row-1',
    };
  };
  const withModel = async () => {
    const { project_id } = await inProject();
    const model = { request_id: crypto.randomUUID(), spec: {} };
    return { project_id, model_id: await create(`/v1/projects/${project_id}/models`, model) };
  };
  const withRegistered = async (): Promise<Record<string, string>> => {
    const { project_id } = await inProject();
    return { project_id, alias: 'champion', model_id: await registeredModel(app, root.token, project_id) };
  };
  const withCall = async () => {
    const project_id = await createProject(app, root.token);
    const account = (await app.store.accounts.byId(root.id)) as Account;
    const call = aCallOf((await app.store.projects.find(account.teamId, project_id)) as Project, account);
    await keep(app.store, call);
    return { call_id: call.id };
  };
  const onDeployment = async () => ({
    deployment_id: await create('/v1/deployments', { name: 'iris', model_path: 'iris.onnx' }),
    model_name: 'iris',
    model_version: '1',
  });
  const onAlert = async () => {
    const alert = anAlert();
    await app.store.alerts.add([alert]);
    return { alert_id: alert.id };
  };

  const chat: Act = {
    body: ({ project_id = '' }) => ask(project_id, 'Hi'),
    params: async () => ({ project_id: await readyProject(app, root.token) }),
    by: 'key',
    open: true,
  };
  /** Lists the acts by the ids of their contracts. */
  const acts: Record<string, Act> = {
    updateOwnAccount: { body: { password: 'another horse battery', current_password: password }, open: true },
    mintKey: { body: { name: 'late' }, status: 201, open: true },
    changeKey: {
      body: { version: 1, permissions: ['chat'] },
      own: async ({ token }) => ({ key_id: (await app.get('/v1/keys', token)).body.keys[0].id }),
      open: true,
    },
    changeRole: { body: { role: 'admin' }, params: async () => ({ user_id: (await register(app, 'Mia')).id }) },
    createInvite: { body: { role: 'admin' }, status: 201 },
    createProject: { body: { name: 'Late' }, status: 201 },
    updateProject: { body: { version: 1, spec: { goal: 'late' } }, params: inProject },
    reviewProject: { body: { version: 1 }, params: inProject },
    importDataset: { body: { records }, params: inProject, status: 201 },
    updateDataset: { body: { version: 1, name: 'Late' }, params: withDataset },
    freezeDataset: { body: { version: 1 }, params: withDataset },
    appendDatasetRecords: { body: { records: [{ input: 'Peru' }] }, params: withDataset, status: 201 },
    updateDatasetRecord: { body: { version: 1, expected: 'Lyon' }, params: withDataset },
    deleteDatasetRecord: { body: { version: 1 }, params: withDataset },
    forkDataset: { body: { name: 'Late' }, params: withDataset, status: 201 },
    createModel: { body: { request_id: crypto.randomUUID(), spec: {} }, params: inProject, status: 201 },
    updateModel: { body: { version: 1, spec: { late: true } }, params: withModel },
    registerModel: { body: { version: 1 }, params: withModel },
    forkModel: { body: { request_id: crypto.randomUUID() }, params: withRegistered, status: 201 },
    setModelAlias: { body: ({ model_id }) => ({ model_id }), params: withRegistered },
    connectRuntime: { body: ({ model_id }) => ({ model_id }), params: withRegistered },
    createChatCompletion: chat,
    createOpenAiChatCompletion: chat,
    createOpenAiCompletion: { ...chat, body: ({ project_id }) => ({ model: project_id, prompt: 'Hi' }) },
    createResponse: { ...chat, body: ({ project_id }) => ({ model: project_id, input: 'Hi' }) },
    countInputTokens: { ...chat, body: ({ project_id }) => ({ model: project_id, input: 'Hi' }), writesNothing: true },
    createAnthropicMessage: { ...chat, body: ({ project_id = '' }) => ({ ...ask(project_id, 'Hi'), max_tokens: 9 }) },
    countAnthropicTokens: { ...chat, writesNothing: true },
    createOpenAiEmbeddings: {
      body: ({ project_id }) => ({ model: project_id, input: 'Hi' }),
      params: async () => ({
        project_id: await readyProject(app, root.token, { runtime: 'onnx', path: 'tiny-embed' }),
      }),
      by: 'key',
      open: true,
    },
    giveFeedback: { body: { score: 1 }, params: withCall, by: 'key', status: 201, open: true },
    createJob: { body: { kind: 'external', name: 'late' }, by: 'key', status: 201 },
    changeJob: {
      body: { status: 'succeeded', result: 1 },
      params: async () => ({ job_id: await create('/v1/jobs', { kind: 'external', name: 'late' }) }),
      by: 'key',
    },
    createBudget: { body: ({ project_id = '' }) => budgetOf(project_id), params: inProject, status: 201 },
    changeBudget: {
      body: { limit: 2 },
      demoted: '404 not_found',
      params: async () => ({ budget_id: await create('/v1/budgets', budgetOf((await inProject()).project_id)) }),
    },
    createAlertRule: { body: rule, by: 'key', status: 201 },
    previewAlertRule: { body: rule, by: 'key', writesNothing: true, open: true },
    changeAlertRule: {
      body: { enabled: false },
      params: async () => ({ rule_id: await create('/v1/alerts/rules', rule) }),
      by: 'key',
    },
    acknowledgeAlert: { body: { note: 'late' }, params: onAlert },
    createWebhook: { body: { url: 'http://127.0.0.1:9/late' }, by: 'key', status: 201 },
    sendAlertAgain: {
      body: ({ alert_id }) => ({ alert_id }),
      params: async () => ({
        ...(await onAlert()),
        webhook_id: await create('/v1/alerts/webhooks', { url: 'http://127.0.0.1:9/late' }),
      }),
      by: 'key',
      status: 201,
    },
    createDeployment: { body: { name: 'late', model_path: 'late.onnx' }, by: 'key', status: 201 },
    predict: { body: { inputs: {} }, params: onDeployment, by: 'key', open: true },
    infer: { body: { inputs: [] }, params: onDeployment, by: 'key', open: true },
    inferWithVersion: { body: { inputs: [] }, params: onDeployment, by: 'key', open: true },
    uploadModelFile: { body: 'bytes', params: async () => ({ 'path*': 'late.onnx' }), by: 'key', status: 201 },
  };

  interface Actor extends Member {
    readonly email: string;
  }

  /** Registers an admin. */
  async function actor(): Promise<Actor> {
    const name = `Actor${++actors}`;
    const member = await register(app, name);
    await app.setAccount(member.id, { role: 'admin', emailVerifiedAt: app.clock.now() });
    return { ...member, email: `${name.toLowerCase()}@example.com` };
  }

  const done = async (answer: Promise<{ status: number }>) => expect(await answer).toMatchObject({ status: 200 });
  const changes: Record<string, (actor: Actor, act: Act) => Promise<unknown>> = {
    'its credential ends': async ({ token }, { by }) => {
      if (!by) return done(app.post('/v1/auth/logout', token));
      const { keys } = (await app.get('/v1/keys', token)).body;
      return done(app.delete(`/v1/keys/${keys[0].id}`, token));
    },
    'its password is changed': async ({ email }) => {
      const { token } = (await app.post('/v1/auth/login', undefined, { email, password })).body;
      const json = { password: 'yet another horse', current_password: password };
      return done(app.call('PATCH', '/v1/auth/me', { token, json }));
    },
    'it is removed': ({ id }) => done(app.delete(`/v1/auth/users/${id}`, root.token)),
    'it is demoted': ({ id }) =>
      done(app.call('PATCH', `/v1/auth/users/${id}/role`, { token: root.token, json: { role: 'member' } })),
    'its key is restricted': async ({ token }) => {
      const { keys } = (await app.get('/v1/keys', token)).body;
      const json = { version: 1, projects: [await createProject(app, root.token)] };
      return done(app.call('PATCH', `/v1/keys/${keys[0].id}`, { token, json }));
    },
    'nothing changes': async () => undefined,
  };
  /** Each of these ends a credential, too. One act for each kind of credential is enough. */
  const ofCredential = ['its password is changed', 'it is removed'];
  const changesFor = (id: string) =>
    Object.keys(changes).filter(
      (change) =>
        (!ofCredential.includes(change) || ['createProject', 'createJob'].includes(id)) &&
        (change !== 'its key is restricted' ||
          ['createChatCompletion', 'createOpenAiChatCompletion', 'createJob'].includes(id)),
    );
  const expected = (id: string, { status = 200, writesNothing, open, demoted = '403 forbidden' }: Act) => {
    const allowed = writesNothing ? `${status}` : `${status} written`;
    const outcomeOfChange = (change: string) => {
      if (change === 'nothing changes') return allowed;
      if (change === 'its key is restricted') return '403 key_restricted';
      if (change === 'it is demoted') return open ? allowed : demoted;
      return '401 unauthenticated';
    };
    return Object.fromEntries(changesFor(id).map((change) => [change, outcomeOfChange(change)]));
  };

  function routeOf(id: string, params: Record<string, string>) {
    const { method, path } = contracts.find((contract) => contract.id === id) as (typeof contracts)[number];
    return { method, at: path.replace(/\{([\w*]+)\}/g, (_, name: string) => params[name] as string) };
  }

  /** Sends the headers, makes the change while the service waits for the body, then sends the body. */
  async function outcome(id: string, act: Act, change: string, params: Record<string, string>): Promise<string> {
    const by = await actor();
    const { method, at } = routeOf(id, { ...params, ...(await act.own?.(by)) });
    const body = typeof act.body === 'function' ? act.body(params) : act.body;
    const bytes = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = {
      Authorization: `Bearer ${act.by ? by.apiKey : by.token}`,
      'Content-Type': typeof body === 'string' ? OCTETS : 'application/json',
      'Content-Length': bytes.length,
      Expect: '100-continue',
    };
    const sent = request(app.url + at, { method, headers });
    sent.flushHeaders();
    const answered = once(sent, 'response');
    await Promise.race([once(sent, 'continue'), answered]);
    sent.write(bytes.slice(0, 1));
    await changes[change]?.(by, act);
    await forgetWrites();
    sent.end(bytes.slice(1));
    const [response] = await answered;
    const answer = { status: response.statusCode as number, body: JSON.parse(await text(response)) };
    note(method, at, answer);
    return outcomeOf(answer);
  }

  const outcomeOf = async (answer: Pick<Answer, 'status' | 'body'>) =>
    [answer.status, codeOf(answer), (await hasWritten()) && 'written'].filter(Boolean).join(' ');

  it('is tested for every act that has a body', () => {
    const withBody = contracts.filter(({ body, access }) => body && access !== 'public');
    expect(Object.keys(acts).sort()).toEqual(withBody.map(({ id }) => id).sort());
  });

  it.each(Object.entries(acts))('is checked at the moment of the act: %s', async (id, act) => {
    const params = (await act.params?.()) ?? {};
    const outcomes: Record<string, string> = {};
    for (const change of changesFor(id)) outcomes[change] = await outcome(id, act, change, params);
    expect(outcomes).toEqual(expected(id, act));
  });

  const onRuntime = async () => ({ project_id: await readyProject(app, root.token) });
  const bodyless: Record<string, Act> = {
    startRuntime: { body: {}, params: onRuntime },
    stopRuntime: { body: {}, params: onRuntime },
    disconnectRuntime: { body: {}, params: onRuntime },
  };
  const runtimes = () => app.container.get(RuntimeReconciler);

  it.each<[string, () => object, string]>([
    ['createDeployment', () => servers, 'start'],
    ['createWebhook', () => app.container.get(WebhookSender), 'check'],
    ['connectRuntime', runtimes, 'apply'],
    ['startRuntime', runtimes, 'apply'],
    ['stopRuntime', runtimes, 'apply'],
    ['disconnectRuntime', runtimes, 'apply'],
  ])('is checked again after %s has waited', async (id, waitsFor, step) => {
    const act = { ...acts, ...bodyless }[id] as Act;
    const params = (await act.params?.()) ?? {};
    const { method, at } = routeOf(id, params);
    const served = servers.ids();
    const outcomes: Record<string, string> = {};
    for (const change of changesFor(id)) {
      const by = await actor();
      const steps = waitsFor() as Record<string, (...args: unknown[]) => Promise<unknown>>;
      const original = steps[step]?.bind(steps);
      jest.spyOn(steps, step).mockImplementationOnce(async (...args) => {
        await changes[change]?.(by, act);
        await forgetWrites();
        return original?.(...args);
      });
      const json = typeof act.body === 'function' ? act.body(params) : act.body;
      outcomes[change] = await outcomeOf(await app.call(method, at, { token: act.by ? by.apiKey : by.token, json }));
      if (change !== 'nothing changes') expect(servers.ids()).toEqual(served);
    }
    expect(outcomes).toEqual(expected(id, act));
  });
});
