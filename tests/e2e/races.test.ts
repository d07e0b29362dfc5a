import { atOnce } from '../support/barrier.js';
import type { Answer, HttpCaller } from '../support/http-caller.js';
import { Pair, Turns, tally } from '../support/pair.js';
import type { Service } from '../support/service.js';
import { site, siteToken } from '../support/site.js';
import { ask, completions, createProject, type Member, password, register } from '../support/workspace.js';

const PARTIES = 16;

/** Removes all accounts with everything that they own. */
const empty = () => pair.query('TRUNCATE accounts, teams, invites, credentials, mailed_tokens CASCADE');

const registerAt = (service: HttpCaller, email: string, more: object = {}) =>
  service.post('/v1/auth/register', undefined, { name: 'Guest', email, password, ...more });

const setRole = (service: HttpCaller, by: Member, id: string, role: string) =>
  service.call('PATCH', `/v1/auth/users/${id}/role`, { token: by.token, json: { role } });

/** Spells one address in small, capital and full-width letters, some with a space at the end. */
const spellings = ['zoe', 'ZOE', '\uff5aoe', '\uff3aoe'].flatMap((local) =>
  ['@example.com', '@EXAMPLE.com ', '@Example.Com', '@e\uff58ample.com '].map((domain) => local + domain),
);

let pair: Pair;
beforeAll(async () => {
  pair = await Pair.start(site); // with at most 3 accounts, the default
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

  it('accepts one of two changes of the password, then refuses the old password and its sessions', async () => {
    const old = password;
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
  it('never exceed the limit of 3 accounts', async () => {
    const enter = async (party: number) =>
      pair
        .of(party)
        .post('/v1/auth/site-login', undefined, { token: await siteToken({ email: `s${party}@a.example` }) });
    const act = (party: number) => (party % 4 < 2 ? registerAt(pair.of(party), `p${party}@example.com`) : enter(party));
    const answers = await pair.race('accounts', PARTIES, act, { queued: PARTIES });
    const { 200: entered = 0, 201: registered = 0, ...refused } = tally(answers);
    expect(entered + registered).toBe(3);
    expect(refused).toEqual({ '403 registration_closed': PARTIES - 3 });
    expect(await roles()).toHaveLength(3);
    const teams = await pair.query('SELECT DISTINCT team_id FROM accounts WHERE password_hash IS NOT NULL');
    expect(teams).toHaveLength(Math.min(registered, 1));
  });

  it('redeem one open invite exactly once', async () => {
    const admin = await register(pair.one, 'Ada');
    const invite = (await pair.one.post('/v1/auth/invites', admin.token, { role: 'developer' })).body;
    const act = (party: number) => registerAt(pair.of(party), `p${party}@example.com`, { invite_token: invite.token });
    const answers = await pair.race('invites', PARTIES, act, { queued: PARTIES });
    expect(tally(answers)).toEqual({ 201: 1, '410 invite_redeemed': PARTIES - 1 });
    expect((await roles()).sort()).toEqual(['admin', 'developer']);
  });

  it('create one account for 16 spellings of an e-mail', async () => {
    await register(pair.one, 'Ada');
    const act = (party: number) => registerAt(pair.of(party), spellings[party] as string);
    const answers = await pair.race('accounts', PARTIES, act, { queued: PARTIES });
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
  /** Makes two requests at once. In odd rounds, neither writes before both have read. */
  const meet = (round: number, table: string, act: (party: number) => Promise<Answer>) =>
    round % 2 ? pair.race(table, 2, act) : atOnce(2, act);
  const admins = async () =>
    (await pair.query<{ id: string }>(`SELECT id FROM accounts WHERE role = 'admin'`)).map(({ id }) => id);

  it('keep an admin when two demote each other', async () => {
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

  it('keep an admin when both step down', async () => {
    expect((await setRole(pair.of(0), ada, bob.id, 'admin')).status).toBe(200);
    const both = [ada, bob];
    const stepDown = (party: number) => {
      const self = both[party] as Member;
      return setRole(pair.of(party), self, self.id, 'member');
    };
    expect(tally(await meet(1, 'accounts', stepDown))).toEqual({ 200: 1, '409 last_admin': 1 });
    const [left, ...more] = await admins();
    expect(more).toEqual([]);
    if (left === bob.id) expect((await setRole(pair.of(1), bob, ada.id, 'admin')).status).toBe(200);
    expect((await setRole(pair.of(0), ada, bob.id, 'member')).status).toBe(200);
  });

  it('have 1,000 pending invites of a team at most', async () => {
    const SPARE = 10;
    await pair.query(
      `INSERT INTO invites
       SELECT 'inv_old_' || n, team_id, 'digest ' || n, '', NULL, 'member', id, 'pending', now(), now() + interval '1 day'
         FROM accounts, generate_series(1, 1000 - ${SPARE} - (SELECT count(*)::int FROM invites WHERE status = 'pending')) n
        WHERE id = $1`,
      [ada.id],
    );
    const invite = (party: number) => pair.of(party).post('/v1/auth/invites', ada.token, {});
    const answers = await pair.race('invites', 32, invite, { queued: 32 });
    expect(tally(answers)).toEqual({ 201: SPARE, '422 invalid_request': 32 - SPARE });
    await pair.query('DELETE FROM invites');
  });

  it.each(['demoted', 'removed'] as const)('leave no invite of an admin who is %s while inviting', async (leaves) => {
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

  it('never both revoke and redeem an invite', async () => {
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

  it('refuse a revoked key on the next call, also to the other instance', async () => {
    const project = await createProject(pair.one, ada.token);
    await pair.query('UPDATE accounts SET email_verified_at = now()');
    const chat = async (service: Service, key: string) =>
      (await service.post(completions(project), key, ask(project, 'Hi'))).status;
    for (const direction of DIRECTIONS) {
      const [here, there] = [pair.of(direction), pair.of(direction + 1)];
      const { id, key } = (await here.post('/v1/keys', ada.token, {})).body;
      expect([await chat(here, key), await chat(there, key)]).toEqual([503, 503]); // valid, but without a runtime
      expect((await here.delete(`/v1/keys/${id}`, ada.token)).status).toBe(200);
      expect([await chat(there, key), await chat(here, key)]).toEqual([401, 401]);
    }
  });

  it('apply a changed role, and a removal, on the next call, also to the other instance', async () => {
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
