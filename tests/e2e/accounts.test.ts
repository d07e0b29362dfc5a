import { atOnce } from '../support/barrier.js';
import type { Answer, HttpCaller } from '../support/http-caller.js';
import { mailedToken, mails } from '../support/mailbox.js';
import { Pair, Turns, tally } from '../support/pair.js';
import type { Service } from '../support/service.js';
import { ask, completions, createProject, type Member, password, register } from '../support/workspace.js';

const PARTIES = 16;

/** Removes all accounts with everything that they own. */
const empty = () => pair.query('TRUNCATE accounts, teams, invites, credentials, mailed_tokens CASCADE');

const registerAt = (service: HttpCaller, email: string, more: object = {}) =>
  service.post('/v1/auth/register', undefined, { name: 'Guest', email, password, ...more });

const setRole = (service: HttpCaller, by: Member, id: string, role: string) =>
  service.call('PATCH', `/v1/auth/users/${id}/role`, { token: by.token, json: { role } });

/** Spells one address in small, large and full-width letters, with spaces around it. */
const spellings = ['zoe', 'ZOE', '\uff5aoe', '\uff3aoe'].flatMap((local) =>
  ['@example.com', '@EXAMPLE.com ', '@Example.Com', '@e\uff58ample.com '].map((domain) => local + domain),
);

let pair: Pair;
beforeAll(async () => {
  pair = await Pair.start(); // the cap is 3 unless set
});
afterAll(() => pair.stop());

describe('an account on two instances', () => {
  const ada = 'ada@example.com';
  let service: Turns;
  beforeAll(async () => {
    service = new Turns(pair);
    await register(service, 'Ada');
  });
  const login = async (text = password) =>
    (await service.post('/v1/auth/login', undefined, { email: ada, password: text })).body;

  it('verifies an e-mail and resets a password by links to its own address alone', async () => {
    const token = await mailedToken(service, ada, 'tnv');
    expect(await service.post('/v1/auth/verify-email', undefined, { token })).toMatchObject({ status: 200 });
    const headers = {
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
      Origin: 'https://evil.example',
    };
    await service.call('POST', '/v1/auth/password/forgot', { json: { email: ada }, headers });
    const json = { token: await mailedToken(service, ada, 'tnr'), password: 'another one' };
    const all = (await mails(service)).join();
    expect(all).toMatch(/http:\/\/127\.0\.0\.1:\d+\/reset-password\?token=/);
    expect(all).not.toContain('evil.example');
    expect((await service.post('/v1/auth/password/reset', undefined, json)).status).toBe(200);
    expect((await login()).code).toBe('invalid_credentials');
  });

  it('lets no login and no second change with the old password outlive a changed one', async () => {
    const old = 'another one';
    const [first, second] = [await login(old), await login(old)];
    const change = (by: { token: string }, to: string) =>
      service.call('PATCH', '/v1/auth/me', { token: by.token, json: { password: to, current_password: old } });
    const changes = [change(first, 'the first new'), change(second, 'the second new')];
    const logins = await Promise.all([login(old), login(old), login(old)]);
    expect((await Promise.all(changes)).filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { token } of logins) {
      if (token) expect((await service.get('/v1/auth/me', token)).status).toBe(401);
    }
    expect(await login(old)).toMatchObject({ code: 'invalid_credentials' });
  });
});

describe('16 registrations at once on two instances', () => {
  beforeEach(empty);

  const accounts = async () => Number((await pair.query<{ n: string }>('SELECT count(*) n FROM accounts'))[0]?.n);
  const roles = async () => (await pair.query<{ role: string }>('SELECT role FROM accounts')).map(({ role }) => role);
  const rounds = [
    ['held until all have looked', true],
    ['as they come', false],
  ] as const;

  it.each(rounds)('never exceed a cap of 3 (%s)', async (_, held) => {
    const act = (party: number) => registerAt(pair.of(party), `p${party}@example.com`);
    const answers = await (held ? pair.race('accounts', PARTIES, act) : atOnce(PARTIES, act));
    expect(tally(answers)).toEqual({ 201: 3, '403 registration_closed': PARTIES - 3 });
    expect((await roles()).sort()).toEqual(['admin', 'member', 'member']);
    expect(await pair.query('SELECT DISTINCT team_id FROM accounts')).toHaveLength(1);
  });

  it.each(rounds)('redeem one open invite exactly once (%s)', async (_, held) => {
    const admin = await register(pair.one, 'Ada');
    const invite = (await pair.one.post('/v1/auth/invites', admin.token, { role: 'developer' })).body;
    const act = (party: number) => registerAt(pair.of(party), `p${party}@example.com`, { invite_token: invite.token });
    const answers = await (held ? pair.race('invites', PARTIES, act) : atOnce(PARTIES, act));
    expect(tally(answers)).toEqual({ 201: 1, '410 invite_redeemed': PARTIES - 1 });
    expect((await roles()).sort()).toEqual(['admin', 'developer']);
  });

  it.each(rounds)('make one account of 16 spellings of an e-mail (%s)', async (_, held) => {
    await register(pair.one, 'Ada');
    const act = (party: number) => registerAt(pair.of(party), spellings[party] as string);
    const answers = await (held ? pair.race('accounts', PARTIES, act) : atOnce(PARTIES, act));
    expect(tally(answers)).toEqual({ 201: 1, '409 email_taken': PARTIES - 1 });
    expect(await accounts()).toBe(2);
  });
});

describe('two instances on one database', () => {
  let ada: Member;
  let bob: Member;
  beforeAll(async () => {
    await empty();
    ada = await register(pair.one, 'Ada');
    bob = await register(pair.other, 'Bob');
  });

  const ROUNDS = [0, 1, 2, 3];
  const DIRECTIONS = [0, 1];
  /** Holds the requests of every other round until both have read. */
  const meet = (round: number, table: string, act: (party: number) => Promise<Answer>) =>
    round % 2 ? pair.race(table, 2, act) : atOnce(2, act);
  const admins = async () =>
    (await pair.query<{ id: string }>(`SELECT id FROM accounts WHERE role = 'admin'`)).map(({ id }) => id);

  it('keeps an admin when two demote each other', async () => {
    expect((await setRole(pair.of(0), ada, bob.id, 'admin')).status).toBe(200);
    for (const round of ROUNDS) {
      const both = [ada, bob] as const;
      const demote = (party: number) => {
        const [by, of] = party ? [bob, ada] : [ada, bob];
        return setRole(pair.of(party), by, of.id, 'member');
      };
      const answers = await meet(round, 'accounts', demote);
      const loser = answers.find(({ status }) => status !== 200);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(loser).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      const [left, ...more] = await admins();
      expect(more).toEqual([]);
      const [winner, demoted] = left === ada.id ? both : [bob, ada];
      expect((await setRole(pair.of(round), winner, demoted.id, 'admin')).status).toBe(200);
    }
  });

  it.each(['demoted', 'removed'] as const)('leaves no invite of an admin who is %s while inviting', async (leaves) => {
    const eve = await register(pair.one, 'Eve');
    await setRole(pair.one, ada, eve.id, 'admin');
    const leave = () =>
      leaves === 'demoted'
        ? setRole(pair.one, ada, eve.id, 'member')
        : pair.one.delete(`/v1/auth/users/${eve.id}`, ada.token);
    const invite = (party: number) => pair.of(party).post('/v1/auth/invites', eve.token, { role: 'admin' });
    const [left, ...invited] = await atOnce(9, (party) => (party === 0 ? leave() : invite(party)));
    expect(left?.status).toBe(200);
    for (const { status } of invited) expect([201, leaves === 'demoted' ? 403 : 401]).toContain(status);
    const pending = await pair.query(`SELECT id FROM invites WHERE invited_by = '${eve.id}' AND status = 'pending'`);
    expect(pending).toEqual([]);
    if (leaves === 'demoted') await pair.one.delete(`/v1/auth/users/${eve.id}`, ada.token);
  });

  it('never both revokes and redeems an invite', async () => {
    for (const round of ROUNDS) {
      const { id, token } = (await pair.one.post('/v1/auth/invites', ada.token, {})).body;
      const answers = await meet(round, 'invites', (party) =>
        party === 0
          ? pair.of(round).delete(`/v1/auth/invites/${id}`, ada.token)
          : registerAt(pair.of(round + 1), `guest${round}@example.com`, { invite_token: token }),
      );
      const outcome = tally(answers);
      const guests = await pair.query(`DELETE FROM accounts WHERE email = 'guest${round}@example.com' RETURNING id`);
      if (guests.length > 0) expect(outcome).toEqual({ 201: 1, '410 invite_redeemed': 1 });
      else expect(outcome).toEqual({ 200: 1, '410 invite_revoked': 1 });
    }
  });

  it('refuses a revoked key on the very next call to the other', async () => {
    const project = await createProject(pair.one, ada.token);
    await pair.query('UPDATE accounts SET email_verified_at = now()');
    const chat = async (service: Service, key: string) =>
      (await service.post(completions(project), key, ask(project, 'Hi'))).status;
    for (const direction of DIRECTIONS) {
      const [here, there] = [pair.of(direction), pair.of(direction + 1)];
      const { id, key } = (await here.post('/v1/keys', ada.token, {})).body;
      expect([await chat(here, key), await chat(there, key)]).toEqual([503, 503]); // known, but there is no model
      expect((await here.delete(`/v1/keys/${id}`, ada.token)).status).toBe(200);
      expect([await chat(there, key), await chat(here, key)]).toEqual([401, 401]);
    }
  });

  it('obeys a changed role, and a removal, on the very next call to the other', async () => {
    const eve = await register(pair.one, 'Eve');
    const invites = async (service: Service) => (await service.post('/v1/auth/invites', eve.token, {})).status;
    for (const direction of DIRECTIONS) {
      expect((await setRole(pair.of(direction), ada, eve.id, 'admin')).status).toBe(200);
      expect([await invites(pair.of(direction + 1)), await invites(pair.of(direction))]).toEqual([201, 201]);
      expect((await setRole(pair.of(direction), ada, eve.id, 'member')).status).toBe(200);
      expect([await invites(pair.of(direction + 1)), await invites(pair.of(direction))]).toEqual([403, 403]);
    }
    expect((await pair.one.delete(`/v1/auth/users/${eve.id}`, ada.token)).status).toBe(200);
    expect((await pair.other.get('/v1/auth/me', eve.token)).status).toBe(401);
  });
});
