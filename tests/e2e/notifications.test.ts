import { query } from '../support/database.js';
import { parseMail } from '../support/eml.js';
import { mails } from '../support/mailbox.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { register } from '../support/workspace.js';

describe('an alert', () => {
  let service: Service;
  let cast: Cast;
  let admin: ReturnType<typeof as>;

  beforeAll(async () => {
    const env = {
      SERVICE_MASTER_KEY: masterKey,
      SERVICE_MAX_ACCOUNTS: '9',
      SERVICE_BASE_URL: 'https://tenon.example/',
    };
    service = await Service.start({ env });
    cast = await castOf(service);
    admin = as(service, cast.admin.token);
  });
  afterAll(() => service.stop());

  const rows = <Row extends object>(sql: string) => query<Row>(service.databaseUrl as string, sql);
  beforeEach(() => rows('TRUNCATE jobs, alert_rules, alerts'));

  it('is mailed to the admins and developers of the operator team who have switched it on', async () => {
    const switched = async (token: string, on: boolean) => {
      const { status, body } = await service.call('PATCH', '/v1/auth/me', { token, json: { alert_emails: on } });
      expect({ status, on: body.alert_emails }).toEqual({ status: 200, on });
      expect((await service.get('/v1/auth/me', token)).body.alert_emails).toBe(on);
    };
    const unverified = await register(service, 'Una');
    const role = `/v1/auth/users/${unverified.id}/role`;
    expect(await admin.call('PATCH', role, { json: { role: 'admin' } })).toMatchObject({ status: 200 });
    const series = 'SELECT id FROM outbox WHERE series IS NOT NULL';

    await admin.rule({ threshold: 1 });
    await admin.ended('failed');
    expect(await rows(series)).toEqual([]);

    for (const { token } of [cast.admin, cast.developer, cast.member, cast.regular, unverified]) {
      await switched(token, true);
    }
    await admin.ended('succeeded');
    await admin.ended('failed');
    expect(await rows(series)).toHaveLength(2);
    const own = async () => (await mails(service)).filter((mail) => mail.includes('External job failed'));
    await until('both have their mail', async () => (await own()).length === 2);
    const [alert] = await admin.alerts();
    const got = (await own()).map(parseMail);
    expect(got.map(({ to }) => to[0]?.address).sort()).toEqual(['ada@example.com', 'dan@example.com']);
    for (const mail of got) {
      expect(mail.subject).toBe('[P1] External job failed');
      expect(mail.text).toContain(`GET https://tenon.example/v1/alerts/${alert.id}\n`);
      for (const [link] of [...mail.text.matchAll(/\bhttps?:[^\s]*/g), ...mail.html.matchAll(/\bhttps?:[^\s<]*/g)]) {
        expect(link).toMatch(/^https:\/\/tenon\.example\/v1\//);
      }
    }

    await switched(cast.developer.token, false);
    await admin.ended('succeeded');
    await admin.ended('failed');
    expect(await rows(series)).toHaveLength(3);
    const wrong = await service.call('PATCH', '/v1/auth/me', {
      token: cast.admin.token,
      json: { alert_emails: 'yes' },
    });
    expect(wrong).toMatchObject({ status: 422, body: { details: [{ path: 'alert_emails' }] } });
  });

  it('leaves the switch of an account to itself', async () => {
    const roster = await service.get('/v1/auth/users', cast.member.token);
    const login = { email: 'ada@example.com', password: 'correct horse battery' };
    const { body } = await service.post('/v1/auth/login', undefined, login);
    for (const user of [...roster.body.users, body.user]) expect(user).not.toHaveProperty('alert_emails');
  });
});
