import { WebhookSender } from '../../src/application/alerts/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import type { Account } from '../../src/domain/accounts/account.js';
import { auditActions } from '../../src/domain/audit/audit-entry.js';
import { ModelFileInvalid } from '../../src/domain/deployments/errors.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import type { Project } from '../../src/domain/workspace/project.js';
import { MemoryWebhookSender } from '../fakes/alerts/memory-webhook-sender.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { aCallOf, keep } from '../support/kept-calls.js';
import { as, masterKey } from '../support/monitoring.js';
import { site, siteToken } from '../support/site.js';
import {
  createProject,
  draftModel,
  type Member,
  ownTeam,
  password,
  register,
  registeredModel,
} from '../support/workspace.js';
import { receivesMail, tokenMailedTo } from './support/mailbox.js';
import { TestApp } from './support/test-app.js';

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly created_at: number;
  readonly actor: { readonly name: string | null };
  readonly object: { readonly name: string | null };
  readonly team_id: string | null;
}

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly json?: object;
}

interface Act extends Call {
  /** Describes a call that changes nothing after the act. By default, this is the act itself. */
  readonly withoutEffect?: Call;
}

describe('the audit trail', () => {
  let app: TestApp;
  let admin: Member;

  beforeAll(async () => {
    const servers = new MemoryModelServer(undefined, async (model) => {
      if (model.kind === 'local' && model.modelPath !== 'iris.onnx')
        throw new ModelFileInvalid('there is no such file.');
    });
    app = await TestApp.start({
      env: { ...site, SERVICE_MASTER_KEY: masterKey, SERVICE_MAX_ACCOUNTS: '99' },
      adapt: (container) => {
        receivesMail(container);
        container.rebind(ModelServer).toConstantValue(servers);
        container.rebind(WebhookSender).toConstantValue(new MemoryWebhookSender());
      },
    });
    admin = await register(app, 'Ada');
    await app.verifyEmails();
  });
  afterAll(() => app.stop());

  const send = ({ method = 'POST', path, token = admin.token, json }: Call) => app.call(method, path, { token, json });
  const done = async (call: Call) => {
    const { status, body } = await send(call);
    if (status >= 300) throw new Error(`${call.path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  /** Returns the newest entries. */
  const entries = async () => (await app.get('/v1/audit?limit=20', masterKey)).body.entries as Entry[];

  let people = 0;
  const someone = async () => ({ ...(await register(app, `P${++people}`)), email: `p${people}@example.com` });
  const project = () => createProject(app, admin.token);
  const dataset = async () => {
    const path = `/v1/projects/${await project()}/datasets`;
    const { id } = await done({ path, json: { records: [{ input: 'a', expected: 'b' }] } });
    return `${path}/${id}`;
  };
  const draft = async () => {
    const id = await project();
    return `/v1/projects/${id}/models/${(await draftModel(app, admin.token, id)).id}`;
  };
  const alias = async () => {
    const id = await project();
    const json = { model_id: await registeredModel(app, admin.token, id) };
    return { method: 'PUT', path: `/v1/projects/${id}/models/aliases/champion`, json };
  };
  const runtime = async (...acts: string[]) => {
    const id = await project();
    const path = `/v1/projects/${id}/runtime`;
    const connect = { method: 'PUT', path, json: { model_id: await registeredModel(app, admin.token, id) } };
    for (const act of acts) await done(act === 'connect' ? connect : { path: `${path}/${act}` });
    return connect;
  };
  const keptCall = async () => {
    const account = (await app.store.accounts.byId(admin.id)) as Account;
    const of = (await app.store.projects.find(account.teamId, await project())) as Project;
    const call = aCallOf(of, account);
    await keep(app.store, call);
    return `/v1/projects/${of.id}/calls/${call.id}`;
  };
  const removal = (path: string): Act => ({ method: 'DELETE', path });
  const deployment = { path: '/v1/deployments', json: { name: 'Iris', model_path: 'iris.onnx' } };
  const rule = () => as(app, admin.token).rule();
  const firing = async () => {
    await as(app, admin.token).rule({ threshold: 1 });
    await as(app, admin.token).ended('failed');
    return (await as(app, admin.token).alerts('?status=firing'))[0].id;
  };
  const webhook = { path: '/v1/alerts/webhooks', json: { url: 'https://1.1.1.1/private' } };
  /** The same call with an invalid limit has no effect. */
  const refusing = (call: Call): Act => ({ ...call, withoutEffect: { ...call, json: { ...call.json, limit: -1 } } });
  const budget = async (): Promise<Act> => {
    const about = { unit: 'calls', limit: 1, period: 'day' };
    return refusing({ path: '/v1/budgets', json: { scope: 'project', scope_id: await project(), ...about } });
  };
  const typed = (email: string) => ({ path: '/v1/auth/register', json: { name: 'New', email, password } });
  const profile = (token: string, json: object): Call => ({ method: 'PATCH', path: '/v1/auth/me', token, json });
  const byMember = async (call: Call): Promise<Act> => ({
    ...call,
    withoutEffect: { ...call, token: (await someone()).token },
  });

  const acts: readonly (readonly [string, () => Promise<Act>])[] = [
    ['account.registered', async () => typed('new@example.com')],
    [
      'account.registered',
      async () => ({ path: '/v1/auth/site-login', json: { token: await siteToken({ email: 'sue@site.example' }) } }),
    ],
    [
      'account.email_verified',
      async () => {
        const token = await tokenMailedTo(app, (await someone()).email, 'tnv');
        return { path: '/v1/auth/verify-email', json: { token } };
      },
    ],
    [
      'account.email_verified',
      async () => {
        await done({ path: '/v1/auth/site-login', json: { token: await siteToken({ email: 'tim@site.example' }) } });
        const token = await siteToken({ email: 'tim@site.example', email_verified: true });
        return { path: '/v1/auth/site-login', json: { token } };
      },
    ],
    ['account.changed', async () => profile((await someone()).token, { name: 'Another' })],
    [
      'account.password_changed',
      async () => profile((await someone()).token, { password: `${password}!`, current_password: password }),
    ],
    [
      'account.password_reset',
      async () => {
        const { email } = await someone();
        await done({ path: '/v1/auth/password/forgot', json: { email } });
        const token = await tokenMailedTo(app, email, 'tnr');
        return { path: '/v1/auth/password/reset', json: { token, password: `${password}!` } };
      },
    ],
    [
      'account.role_changed',
      async () => ({
        method: 'PATCH',
        path: `/v1/auth/users/${(await someone()).id}/role`,
        json: { role: 'developer' },
      }),
    ],
    ['account.removed', async () => removal(`/v1/auth/users/${(await someone()).id}`)],
    ['api_key.minted', () => byMember({ path: '/v1/keys', json: { name: 'nightly' } })],
    [
      'api_key.changed',
      async () => {
        const { id } = await done({ path: '/v1/keys', json: {} });
        return byMember({ method: 'PATCH', path: `/v1/keys/${id}`, json: { version: 1, permissions: ['chat'] } });
      },
    ],
    ['budget.created', () => budget()],
    [
      'budget.changed',
      async () =>
        refusing({ method: 'PATCH', path: `/v1/budgets/${(await done(await budget())).id}`, json: { limit: 2 } }),
    ],
    ['budget.deleted', async () => removal(`/v1/budgets/${(await done(await budget())).id}`)],
    ['api_key.revoked', async () => removal(`/v1/keys/${(await done({ path: '/v1/keys', json: {} })).id}`)],
    [
      'session.revoked',
      async () => {
        const { token, email } = await someone();
        await done({ path: '/v1/auth/login', json: { email, password } });
        const { body } = await app.get('/v1/auth/sessions', token);
        const other = body.sessions.find(({ current }: { current: boolean }) => !current);
        return { ...removal(`/v1/auth/sessions/${other.id}`), token };
      },
    ],
    ['invite.created', () => byMember({ path: '/v1/auth/invites', json: { role: 'developer' } })],
    [
      'invite.revoked',
      async () => removal(`/v1/auth/invites/${(await done({ path: '/v1/auth/invites', json: {} })).id}`),
    ],
    ['project.deleted', async () => removal(`/v1/projects/${await project()}`)],
    ['dataset.frozen', async () => ({ path: `${await dataset()}/freeze` })],
    ['dataset.deleted', async () => removal(await dataset())],
    ['model.registered', async () => ({ path: `${await draft()}/register`, json: { version: 1 } })],
    ['model.deleted', async () => removal(await draft())],
    ['model_alias.moved', alias],
    [
      'model_alias.deleted',
      async () => {
        const set = await alias();
        await done(set);
        return removal(set.path);
      },
    ],
    ['call.deleted', async () => removal(await keptCall())],
    ['runtime.connected', () => runtime()],
    ['runtime.started', async () => byMember({ path: `${(await runtime('connect')).path}/start` })],
    ['runtime.stopped', async () => byMember({ path: `${(await runtime('connect', 'start')).path}/stop` })],
    ['runtime.disconnected', async () => removal((await runtime('connect')).path)],
    [
      'deployment.created',
      async () => ({ ...deployment, withoutEffect: { ...deployment, json: { name: 'No', model_path: 'no.onnx' } } }),
    ],
    ['deployment.deleted', async () => removal(`/v1/deployments/${(await done(deployment)).id}`)],
    [
      'alert_rule.created',
      () =>
        byMember({
          path: '/v1/alerts/rules',
          json: { name: 'slow', rule_type: 'job_duration_exceeded', threshold: 9 },
        }),
    ],
    [
      'alert_rule.changed',
      async () =>
        byMember({ method: 'PATCH', path: `/v1/alerts/rules/${(await rule()).id}`, json: { enabled: false } }),
    ],
    ['alert_rule.deleted', async () => removal(`/v1/alerts/rules/${(await rule()).id}`)],
    ['alert.acknowledged', async () => ({ path: `/v1/alerts/${await firing()}/ack` })],
    ['webhook.created', () => byMember(webhook)],
    [
      'webhook.alert_sent_again',
      async () => {
        const call = { path: `/v1/alerts/webhooks/${(await done(webhook)).id}/deliveries` };
        const withoutEffect = { ...call, json: { alert_id: 'alr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11' } };
        return { ...call, json: { alert_id: await firing() }, withoutEffect };
      },
    ],
    ['webhook.deleted', async () => removal(`/v1/alerts/webhooks/${(await done(webhook)).id}`)],
  ];

  it.each(acts)('has one entry for %s, none if the act is undone or changes nothing (%#)', async (action, prepare) => {
    const { withoutEffect, ...act } = await prepare();
    const before = await entries();
    // The unit of work fails after the entry is stored.
    const append = app.store.auditTrail.append.bind(app.store.auditTrail);
    const broken = jest.spyOn(app.store.auditTrail, 'append').mockImplementation(async (entry) => {
      await append(entry);
      throw new StorageUnavailable();
    });
    expect((await send(act)).status).toBe(503);
    broken.mockRestore();
    expect(await entries()).toEqual(before);
    await done(act); // succeeds only because the first attempt was undone

    const known = new Set(before.map(({ id }) => id));
    const after = await entries();
    const added = after.filter(({ id }) => !known.has(id));
    expect(added).toEqual([
      expect.objectContaining({
        action,
        actor: expect.objectContaining({ kind: 'account' }),
        request_id: expect.stringMatching(/^req_/),
      }),
    ]);
    expect(JSON.stringify(added)).not.toMatch(/tn[a-z]_|whsec_|correct horse|private|\$2b\$/);

    await send(withoutEffect ?? act);
    expect(await entries()).toEqual(after);
  });

  it('is tested above with every action except those of the command line', () => {
    const tried = new Set(acts.map(([action]) => action));
    const others = auditActions.filter((action) => !tried.has(action));
    expect(others).toEqual([
      'account.sessions_revoked',
      'database.migrated',
      'database.backed_up',
      'database.restored',
    ]);
  });

  describe('read over HTTP', () => {
    let developer: Member;
    let regular: Member;
    beforeAll(async () => {
      [developer, regular] = [await register(app, 'Dan'), await register(app, 'Rea')];
      await app.setAccount(developer.id, { role: 'developer' });
      await app.moveToOwnTeam(regular.id);
      await app.verifyEmails();
    });

    const read = async (filter = '', token = masterKey) => {
      const { status, body } = await app.get(`/v1/audit${filter}`, token);
      if (status !== 200) throw new Error(`audit: ${status} ${JSON.stringify(body)}`);
      return body as { entries: Entry[]; count: number; next_cursor: string | null };
    };

    it('tells who did what, when and in which request', async () => {
      const id = await project();
      const headers = { 'X-Request-Id': 'my-request' };
      await app.call('DELETE', `/v1/projects/${id}`, { token: admin.token, headers });
      const [session] = (await app.get('/v1/auth/sessions', admin.token)).body.sessions;
      const filter = `?object=${id}&action=project&actor=${admin.id}&from=0&limit=1`;
      expect(await read(filter, admin.token)).toEqual({
        entries: [
          {
            id: expect.stringMatching(/^aud_/),
            created_at: app.clock.now().getTime() / 1000,
            actor: { kind: 'account', id: admin.id, name: 'Ada', credential_id: session.id },
            action: 'project.deleted',
            object: { kind: 'project', id, name: 'Capitals' },
            team_id: expect.stringMatching(/^tea_/),
            request_id: 'my-request',
            details: {},
          },
        ],
        count: 1,
        next_cursor: null,
      });
    });

    it('shows admins the entries of their team (operators also those of no team), and the master key all', async () => {
      const { id } = await as(app, masterKey).rule({ name: 'by the master key' });
      await app.post('/v1/keys', regular.token, { name: 'own' });
      for (const token of [admin.token, admin.apiKey, masterKey]) {
        const [entry] = (await read(`?object=${id}`, token)).entries;
        expect(entry).toMatchObject({ action: 'alert_rule.created', actor: { kind: 'master_key' }, team_id: null });
      }
      expect((await read(`?object=${id}`, regular.token)).count).toBe(0);
      const own = (await read('', regular.token)).entries;
      expect(new Set(own.map(({ team_id }) => team_id))).toEqual(new Set([ownTeam(regular.id)]));
      const minted = `?action=api_key.minted&actor=${regular.id}`;
      expect((await read(minted, admin.token)).count).toBe(0);
      expect((await read(minted)).count).toBe(1);
      for (const token of [developer.token, developer.apiKey]) {
        const { status, body } = await app.get('/v1/audit', token);
        expect({ status, code: body.code }).toEqual({ status: 403, code: 'forbidden' });
      }
    });

    it('keeps the entries of a removed account, each with the name that the account had then', async () => {
      const gone = await register(app, 'Gus');
      await send(profile(gone.token, { name: 'August' }));
      await send(removal(`/v1/auth/users/${gone.id}`));
      const { entries } = await read(`?object=${gone.id}`, admin.token);
      expect(entries.map(({ action, actor, object }) => [action, actor.name, object.name])).toEqual([
        ['account.removed', 'Ada', 'August'],
        ['account.changed', 'Gus', 'August'],
        ['account.registered', 'Gus', 'Gus'],
      ]);
    });
  });
});
