import { randomUUID } from 'node:crypto';
import { atOnce } from '../support/barrier.js';
import type { Answer, HttpCaller } from '../support/http-caller.js';
import { Pair, Turns, tally } from '../support/pair.js';
import type { Service } from '../support/service.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  draftModel,
  type Member,
  password,
  register,
  registeredModel,
} from '../support/workspace.js';

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
  pair = await Pair.start(); // with at most 3 accounts, the default
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
    const act = (party: number) => registerAt(pair.of(party), `p${party}@example.com`);
    const answers = await pair.race('accounts', PARTIES, act);
    expect(tally(answers)).toEqual({ 201: 3, '403 registration_closed': PARTIES - 3 });
    expect((await roles()).sort()).toEqual(['admin', 'member', 'member']);
    expect(await pair.query('SELECT DISTINCT team_id FROM accounts')).toHaveLength(1);
  });

  it('redeem one open invite exactly once', async () => {
    const admin = await register(pair.one, 'Ada');
    const invite = (await pair.one.post('/v1/auth/invites', admin.token, { role: 'developer' })).body;
    const act = (party: number) => registerAt(pair.of(party), `p${party}@example.com`, { invite_token: invite.token });
    const answers = await pair.race('invites', PARTIES, act);
    expect(tally(answers)).toEqual({ 201: 1, '410 invite_redeemed': PARTIES - 1 });
    expect((await roles()).sort()).toEqual(['admin', 'developer']);
  });

  it('create one account for 16 spellings of an e-mail', async () => {
    await register(pair.one, 'Ada');
    const act = (party: number) => registerAt(pair.of(party), spellings[party] as string);
    const answers = await pair.race('accounts', PARTIES, act);
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

describe('the workspace of a team', () => {
  let admin: Member;
  beforeAll(async () => {
    await empty();
    admin = await register(pair.one, 'Ada');
  });

  describe('models on two instances', () => {
    let project: string;
    let models: string;

    beforeEach(async () => {
      project = await createProject(pair.one, admin.token);
      models = `/v1/projects/${project}/models`;
    });

    const rowsOf = (table: string) =>
      pair.query<{ id: string; version: number }>(`SELECT * FROM ${table} WHERE project_id = $1`, [project]);

    it('are created once by 16 simultaneous calls with the same request_id', async () => {
      const request = { request_id: randomUUID(), spec: { a: 1, b: 2 } };
      const spellings = [request, { request_id: request.request_id.toUpperCase(), spec: { b: 2, a: 1 } }];
      const answers = await pair.race('models', PARTIES, (party) =>
        pair.of(party).post(models, admin.token, spellings[(party >> 1) % 2]),
      );
      expect(tally(answers)).toEqual({ 201: 1, 200: PARTIES - 1 });
      const [row, ...more] = await rowsOf('models');
      expect(more).toEqual([]);
      expect(new Set(answers.map(({ body }) => body.id))).toEqual(new Set([row?.id]));
      expect((await pair.one.get(`${models}/${row?.id}/versions`, admin.token)).body.count).toBe(1);
    });

    it('are created once if the answer was lost and the caller asks again', async () => {
      const request = { request_id: randomUUID(), spec: { a: 1 } };
      const gone = new AbortController();
      const send = (signal: AbortSignal) =>
        pair.one.call('POST', models, { token: admin.token, json: request, signal }).then(
          () => 'answered',
          (error: Error) => error.name,
        );
      // The connection breaks before the call has written.
      expect(
        await pair.race(
          'models',
          1,
          () => send(gone.signal),
          () => gone.abort(),
        ),
      ).toEqual(['AbortError']);
      await until('the first call has written', async () => (await rowsOf('models')).length > 0);
      const [row] = await rowsOf('models');
      const again = await pair.other.post(models, admin.token, request);
      expect(again).toMatchObject({ status: 200, body: { id: row?.id, version: 1, spec: request.spec } });
      expect(await rowsOf('models')).toHaveLength(1);
    });

    it('accept exactly one of 16 updates and registrations of the same version', async () => {
      const { id } = await draftModel(pair.one, admin.token, project);
      const at = `${models}/${id}`;
      const answers = await pair.race('models', PARTIES, (party) =>
        party % 4 === 0
          ? pair.of(party >> 2).post(`${at}/register`, admin.token, { version: 1 })
          : pair.of(party).put(at, admin.token, { version: 1, spec: { written_by: party } }),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      const registered = won[0]?.body.state === 'registered';
      expect(tally(answers)).toEqual({ 200: 1, [registered ? '409 model_registered' : '409 stale_version']: 15 });
      const stored = (await pair.other.get(at, admin.token)).body;
      expect(stored).toEqual(won[0]?.body);
      expect((await pair.one.get(`${at}/versions`, admin.token)).body.count).toBe(stored.version);
    });

    describe('8 moves of an alias at once', () => {
      const MOVES = 8;
      let aliases: string;
      /** Names the model to which each party moves the alias. */
      let targets: string[];
      let first: string;
      beforeAll(async () => {
        const shared = await createProject(pair.one, admin.token);
        aliases = `/v1/projects/${shared}/models/aliases`;
        const created = await atOnce(MOVES + 1, (party) =>
          registeredModel(pair.of(party), admin.token, shared, { party }),
        );
        [first, ...targets] = created as [string, ...string[]];
      });
      const set = (party: number, alias: string, json: object) =>
        pair.of(party).put(`${aliases}/${alias}`, admin.token, json);

      it.each([
        ['a new alias', 0],
        ['an existing alias', 1],
      ])('have consecutive versions, and none is lost (%s)', async (_, before) => {
        const alias = `moved-${before}`;
        if (before) await set(0, alias, { model_id: first });
        const answers = await pair.race('model_aliases', MOVES, (party) =>
          set(party, alias, { model_id: targets[party] }),
        );
        expect(tally(answers)).toEqual({ 200: MOVES });
        const versions = answers.map(({ body }) => body.version as number).sort((a, b) => a - b);
        expect(versions).toEqual(Array.from({ length: MOVES }, (_, n) => before + n + 1));
        const { history } = (await pair.one.get(`${aliases}/${alias}`, admin.token)).body;
        const moved = answers.map(({ body }) => [body.version, body.model_id]);
        const kept = history.map(({ version, model_id }: { version: number; model_id: string }) => [version, model_id]);
        expect(kept).toEqual([...moved, ...(before ? [[1, first]] : [])].sort(([a], [b]) => b - a));
      });

      it('leave 100 aliases at most', async () => {
        const model = await registeredModel(pair.one, admin.token, project, {});
        const values = Array.from(
          { length: 98 },
          (_, n) => `($1, 'old-${n}', 1, $2, 'usr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', now())`,
        );
        await pair.query(`INSERT INTO model_aliases VALUES ${values}`, [project, model]);
        const move = (party: number) =>
          pair.of(party).put(`${models}/aliases/new-${party}`, admin.token, { model_id: model });
        const answers = await pair.race('model_aliases', MOVES, move);
        expect(tally(answers)).toEqual({ 200: 2, '422 invalid_request': MOVES - 2 });
        expect((await pair.other.get(`${models}/aliases`, admin.token)).body.count).toBe(100);
      });
    });
  });

  const WRITERS = 8;
  const FREEZERS = 4;

  describe('datasets on two instances', () => {
    let token: string;
    let datasets: string;

    beforeAll(async () => {
      token = admin.token;
      datasets = `/v1/projects/${await createProject(pair.one, token)}/datasets`;
    });

    const records = (text: string) => [{ id: 'a', input: text, expected: 'x' }];
    const imported = async () => (await pair.one.post(datasets, token, { records: records('first') })).body;
    const freezeOf = (party: number, id: string) =>
      pair.of(party).call('POST', `${datasets}/${id}/freeze`, { token, json: { version: 1 } });

    it('accept exactly one of 16 updates of the same version', async () => {
      const { id } = await imported();
      const outcomes = await pair.race('datasets', 16, (party) =>
        pair.of(party).put(`${datasets}/${id}`, token, { version: 1, records: records(`by ${party}`) }),
      );
      expect(tally(outcomes)).toEqual({ 200: 1, '409 stale_version': 15 });
      const stale = outcomes.filter(({ status }) => status === 409).map(({ body }) => body.details[0].current);
      expect(stale).toEqual(stale.map(() => 2));
      const winner = outcomes.find(({ status }) => status === 200)?.body;
      expect((await pair.other.get(`${datasets}/${id}`, token)).body).toEqual(winner);
    });

    it('accept either one update or one freeze of the same version', async () => {
      const { id } = await imported();
      const outcomes = await pair.race('datasets', 8, (party) =>
        party % 4 < 2
          ? freezeOf(party, id)
          : pair.of(party).put(`${datasets}/${id}`, token, { version: 1, records: records(`by ${party}`) }),
      );
      const [winner, ...more] = outcomes.filter(({ status }) => status === 200).map(({ body }) => body);
      expect(more).toEqual([]);
      const code = winner.state === 'frozen' ? 'dataset_frozen' : 'stale_version';
      expect(tally(outcomes)).toEqual({ 200: 1, [`409 ${code}`]: 7 });
      expect((await pair.one.get(`${datasets}/${id}`, token)).body).toEqual(winner);
    });

    it('freeze once, and acknowledge no write that begins afterwards', async () => {
      const { id } = await imported();
      const path = `${datasets}/${id}`;
      let acknowledged: Answer | null = null;
      const written: Answer[] = [];

      /** Writes one version after the other until the dataset is frozen. */
      const write = async (party: number) => {
        for (let round = 0; ; round++) {
          const { version } = (await pair.of(party).get(path, token)).body;
          const late = acknowledged !== null;
          const change = { version, records: records(`by ${party}, round ${round}`) };
          const answer = await pair.of(party).put(path, token, change);
          if (answer.status === 200) {
            expect(late).toBe(false);
            written.push(answer);
          } else expect(answer.status).toBe(409);
          if (answer.body.code === 'dataset_frozen') return;
        }
      };
      /** Freezes the dataset after the first writes. */
      const freeze = async (party: number) => {
        await until('there are versions', () => written.length >= WRITERS, 5);
        const answer = await pair.of(party).call('POST', `${path}/freeze`, { token });
        if (answer.status === 200) acknowledged = answer;
        return answer;
      };
      const [freezes] = await Promise.all([atOnce(FREEZERS, freeze), atOnce(WRITERS, write)]);

      const [frozen, ...more] = freezes.filter(({ status }) => status === 200).map(({ body }) => body);
      expect(more).toEqual([]);
      expect(freezes.filter(({ body }) => body.code === 'dataset_frozen')).toHaveLength(FREEZERS - 1);
      const versions = written.map(({ body }) => body.version as number).sort((a, b) => a - b);
      expect(versions).toEqual(versions.map((_, n) => n + 2));
      expect(frozen.version).toBe(versions.length + 1);
      const last = written.find(({ body }) => body.version === frozen.version)?.body;
      expect(frozen).toMatchObject({ content_sha256: last.content_sha256, records: last.records, state: 'frozen' });
      for (const one of [pair.one, pair.other]) expect((await one.get(path, token)).body).toEqual(frozen);
      expect((await pair.one.get(`${path}/versions/${frozen.version}`, token)).body.records).toEqual(frozen.records);
    });
  });
});
