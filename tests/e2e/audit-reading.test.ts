import { query } from '../support/database.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { Service } from '../support/service.js';
import { createProject, ownTeam, register } from '../support/workspace.js';

interface Entry {
  readonly id: string;
  readonly created_at: number;
  readonly action: string;
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string | null };
  readonly object: { readonly kind: string; readonly id: string; readonly name: string | null };
  readonly team_id: string | null;
}

describe('the audit over HTTP', () => {
  let service: Service;
  let cast: Cast;

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MASTER_KEY: masterKey, SERVICE_MAX_ACCOUNTS: '6' } });
    cast = await castOf(service);
  });
  afterAll(() => service.stop());

  const read = async (filter = '', token = masterKey) => {
    const { status, body } = await service.get(`/v1/audit${filter}`, token);
    if (status !== 200) throw new Error(`audit: ${status} ${JSON.stringify(body)}`);
    return body as { entries: Entry[]; count: number; next_cursor: string | null };
  };
  const actions = async (filter: string, token?: string) =>
    (await read(filter, token)).entries.map(({ action }) => action);

  it('tells who did what, when, on behalf of which request', async () => {
    const { admin } = cast;
    const id = await createProject(service, admin.token);
    const begun = Date.now() / 1000;
    const { status } = await service.call('DELETE', `/v1/projects/${id}`, {
      token: admin.token,
      headers: { 'X-Request-Id': 'my-request' },
    });
    expect(status).toBe(200);
    const [session] = (await service.get('/v1/auth/sessions', admin.token)).body.sessions;
    const { entries, count, next_cursor } = await read(`?object=${id}`, admin.token);
    expect({ entries, count, next_cursor }).toEqual({
      entries: [
        {
          id: expect.stringMatching(/^aud_/),
          created_at: expect.any(Number),
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
    expect(Math.abs((entries[0] as Entry).created_at - begun)).toBeLessThan(60);
  });

  it('is for admins: of their team, the operators of what is nobody’s, the master key of all', async () => {
    const { admin, developer, member, regular } = cast;
    const { id } = await as(service, masterKey).rule({ name: 'by the master key' });
    await service.post('/v1/keys', regular.token, { name: 'own' });
    for (const token of [admin.token, admin.apiKey, masterKey]) {
      const [entry] = (await read(`?object=${id}`, token)).entries;
      expect(entry).toMatchObject({ action: 'alert_rule.created', actor: { kind: 'master_key' }, team_id: null });
    }
    expect((await read(`?object=${id}`, regular.token)).count).toBe(0);
    const own = (await read('', regular.token)).entries;
    expect(own.length).toBeGreaterThan(0);
    expect(new Set(own.map(({ team_id }) => team_id))).toEqual(new Set([ownTeam(regular.id)]));
    expect((await read('?action=api_key.minted&actor='.concat(regular.id), admin.token)).count).toBe(0);
    expect((await read('?action=api_key.minted&actor='.concat(regular.id))).count).toBe(1);
    for (const token of [developer.token, developer.apiKey, member.token]) {
      const { status, body } = await service.get('/v1/audit', token);
      expect({ status, code: body.code }).toEqual({ status: 403, code: 'forbidden' });
    }
  });

  it('keeps what an account did, under its name of then, when it is removed', async () => {
    const gone = await register(service, 'Gus');
    await service.call('PATCH', '/v1/auth/me', { token: gone.token, json: { name: 'August' } });
    await service.call('DELETE', `/v1/auth/users/${gone.id}`, { token: cast.admin.token });
    const { entries } = await read(`?object=${gone.id}`, cast.admin.token);
    expect(entries.map(({ action, actor, object }) => [action, actor.name, object.name])).toEqual([
      ['account.removed', 'Ada', 'August'],
      ['account.changed', 'Gus', 'August'],
      ['account.registered', 'Gus', 'Gus'],
    ]);
  });

  it('finds by actor, action, object and time, a page at a time', async () => {
    const { admin } = cast;
    const rule = await as(service, admin.token).rule();
    await as(service, admin.token).call('PATCH', `/v1/alerts/rules/${rule.id}`, { json: { enabled: false } });
    await as(service, masterKey).call('DELETE', `/v1/alerts/rules/${rule.id}`);
    const of = `object=${rule.id}`;
    expect(await actions(`?${of}`)).toEqual(['alert_rule.deleted', 'alert_rule.changed', 'alert_rule.created']);
    expect(await actions(`?${of}&action=alert_rule`)).toHaveLength(3);
    expect(await actions(`?${of}&action=alert_rule.changed`)).toEqual(['alert_rule.changed']);
    expect(await actions(`?${of}&actor=${admin.id}`)).toEqual(['alert_rule.changed', 'alert_rule.created']);
    expect(await actions(`?${of}&actor=master_key`)).toEqual(['alert_rule.deleted']);

    const all = (await read(`?${of}`)).entries;
    const moment = (all[1] as Entry).created_at;
    const before = all.filter(({ created_at }) => created_at < moment).map(({ action }) => action);
    expect(await actions(`?${of}&to=${moment}`)).toEqual(before);
    expect(await actions(`?${of}&from=${moment}`)).toEqual(
      all.slice(0, all.length - before.length).map((e) => e.action),
    );

    const first = await read(`?${of}&limit=2`);
    expect(first).toMatchObject({ count: 2, next_cursor: all[1]?.id });
    const second = await read(`?${of}&limit=2&cursor=${first.next_cursor}`);
    expect([...first.entries, ...second.entries]).toEqual(all);
    expect(second.next_cursor).toBeNull();
  });

  it.each(['action=nothing', 'actor=%00', `object=${'x'.repeat(101)}`, 'from=yesterday', 'to=-1', 'limit=0'])(
    'refuses %s',
    async (filter) => {
      const { status, body } = await service.get(`/v1/audit?${filter}`, masterKey);
      expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    },
  );

  it('has nothing of the passwords and credentials that came', async () => {
    const rows = await query(service.databaseUrl as string, 'SELECT * FROM audit_entries');
    expect(rows.length).toBeGreaterThan(5);
    expect(JSON.stringify(rows)).not.toMatch(/tn[a-z]_|correct horse|\$2b\$/);
  });
});
