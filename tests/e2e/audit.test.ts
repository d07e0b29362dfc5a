import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { WebhookSender } from '../../src/application/alerts/ports.js';
import { AuditRepository } from '../../src/application/audit/ports.js';
import { ChatRuntime } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { type AuditEntry, auditActions } from '../../src/domain/audit/audit-entry.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { TypeOrmAuditRepository } from '../../src/infrastructure/typeorm/audit/audit.repository.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryWebhookSender } from '../fakes/alerts/memory-webhook-sender.js';
import { MemoryChatRuntime } from '../fakes/chat/memory-chat-runtime.js';
import { MemoryModelFileResolver } from '../fakes/deployments/memory-model-file-resolver.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { ClockedApp } from '../support/clocked-app.js';
import { query } from '../support/database.js';
import { mailedToken } from '../support/mailbox.js';
import { as } from '../support/monitoring.js';
import { UNLIMITED } from '../support/service.js';
import { createProject, draftModel, type Member, password, register, registeredModel } from '../support/workspace.js';

const site = {
  SERVICE_SITE_LOGIN_SECRET: 'the-shared-secret-of-site-and-service',
  SERVICE_SITE_LOGIN_ISSUER: 'https://site.example',
  SERVICE_SITE_LOGIN_AUDIENCE: 'tenon',
};
const siteToken = (claims: object) =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setJti(randomUUID())
    .setIssuer(site.SERVICE_SITE_LOGIN_ISSUER)
    .setAudience('tenon')
    .setExpirationTime('5m')
    .sign(new TextEncoder().encode(site.SERVICE_SITE_LOGIN_SECRET));

/** Keeps the entry, and has its unit of work fail afterwards. */
class BreakableTrail extends TypeOrmAuditRepository {
  broken = false;

  override async append(entry: AuditEntry): Promise<void> {
    await super.append(entry);
    if (this.broken) throw new StorageUnavailable();
  }
}

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly json?: object;
}

interface Done extends Call {
  /** Does nothing, once the act is done. Undefined: the same call again. */
  readonly vain?: Call;
}

describe('the audit trail', () => {
  let app: ClockedApp;
  let admin: Member;
  let trail: BreakableTrail;

  beforeAll(async () => {
    const files = new MemoryModelFileResolver({ '/models/iris.onnx': { file: '/models/iris.onnx' } });
    const servers = new MemoryModelServer(files, () => ({ load: async () => undefined, answer: async () => null }));
    app = await ClockedApp.start({ ...UNLIMITED, ...site, SERVICE_MAX_ACCOUNTS: '99' }, (container) => {
      trail = new BreakableTrail(container.get(TypeOrmUnitOfWork));
      container.rebind(AuditRepository).toConstantValue(trail);
      container.rebind(ModelServer).toConstantValue(servers);
      container.rebind(WebhookSender).toConstantValue(new MemoryWebhookSender());
      container.rebind(ChatRuntime).toConstantValue(new MemoryChatRuntime());
    });
    admin = await register(app, 'Ada');
    await query(app.databaseUrl, 'UPDATE accounts SET email_verified_at = now()');
  });
  afterAll(() => app.stop());

  const send = ({ method = 'POST', path, token = admin.token, json }: Call) => app.call(method, path, { token, json });
  const done = async (call: Call) => {
    const { status, body } = await send(call);
    if (status >= 300) throw new Error(`${call.path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const entries = () => query<{ action: string; object_id: string }>(app.databaseUrl, 'SELECT * FROM audit_entries');

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
  const removal = (path: string): Done => ({ method: 'DELETE', path });
  const deployment = { path: '/v1/deployments', json: { name: 'Iris', model_path: 'iris.onnx' } };
  const rule = () => as(app, admin.token).rule();
  const firing = async () => {
    await as(app, admin.token).rule({ threshold: 1 });
    await as(app, admin.token).ended('failed');
    return (await as(app, admin.token).alerts('?status=firing'))[0].id;
  };
  const webhook = { path: '/v1/alerts/webhooks', json: { url: 'https://1.1.1.1/private' } };
  const typed = (email: string) => ({ path: '/v1/auth/register', json: { name: 'New', email, password } });
  const profile = (token: string, json: object): Call => ({ method: 'PATCH', path: '/v1/auth/me', token, json });
  const byMember = async (call: Call): Promise<Done> => ({
    ...call,
    vain: { ...call, token: (await someone()).token },
  });

  const acts: readonly (readonly [string, () => Promise<Done>])[] = [
    ['account.registered', async () => typed('new@example.com')],
    [
      'account.registered',
      async () => ({ path: '/v1/auth/site-login', json: { token: await siteToken({ email: 'sue@site.example' }) } }),
    ],
    [
      'account.email_verified',
      async () => {
        const token = await mailedToken(app, (await someone()).email, 'tnv');
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
        const token = await mailedToken(app, email, 'tnr');
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
    ['runtime.connected', () => runtime()],
    ['runtime.started', async () => byMember({ path: `${(await runtime('connect')).path}/start` })],
    ['runtime.stopped', async () => byMember({ path: `${(await runtime('connect', 'start')).path}/stop` })],
    ['runtime.disconnected', async () => removal((await runtime('connect')).path)],
    [
      'deployment.created',
      async () => ({ ...deployment, vain: { ...deployment, json: { name: 'No', model_path: 'no.onnx' } } }),
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
    ['webhook.deleted', async () => removal(`/v1/alerts/webhooks/${(await done(webhook)).id}`)],
  ];

  it.each(acts)('has one entry for %s, none where it is undone or does nothing (%#)', async (action, prepare) => {
    const { vain, ...act } = await prepare();
    const before = await entries();
    trail.broken = true;
    const { status } = await send(act).finally(() => {
      trail.broken = false;
    });
    expect(status).toBe(503);
    expect(await entries()).toEqual(before);
    await done(act); // which shows that it had been undone

    const known = new Set(before.map((entry) => JSON.stringify(entry)));
    const added = (await entries()).filter((entry) => !known.has(JSON.stringify(entry)));
    expect(added).toEqual([
      expect.objectContaining({ action, actor_kind: 'account', request_id: expect.stringMatching(/^req_/) }),
    ]);
    expect(JSON.stringify(added)).not.toMatch(/tn[a-z]_|whsec_|correct horse|private|\$2b\$/);

    const { length } = await entries();
    await send(vain ?? act);
    expect(await entries()).toHaveLength(length);
  });

  it('tells of every act that there is but those of the command line', () => {
    const tried = new Set(acts.map(([action]) => action));
    const others = auditActions.filter((action) => !tried.has(action));
    expect(others).toEqual([
      'account.sessions_revoked',
      'database.migrated',
      'database.backed_up',
      'database.restored',
    ]);
  });
});
