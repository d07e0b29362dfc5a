import { rm } from 'node:fs/promises';
import { Client } from 'pg';
import { atOnce } from '../support/barrier.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import type { Answer } from '../support/http-caller.js';
import { Service, temporaryFolder } from '../support/service.js';
import { ask, completions, createProject, type Member, password, register } from '../support/workspace.js';

const PARTIES = 16;
const PATIENCE_MS = 3_000; // shorter than the service waits for a statement

/** Two processes of the service on one database. */
class Pair {
  private constructor(
    private readonly database: TestDatabase,
    readonly one: Service,
    readonly other: Service,
  ) {}

  static async start(maxAccounts: number): Promise<Pair> {
    const database = await freshDatabase();
    const options = {
      databaseUrl: database.url,
      dataDir: await temporaryFolder(),
      env: { SERVICE_MAX_ACCOUNTS: String(maxAccounts) },
    };
    const one = await Service.start(options); // makes the secret that both share
    return new Pair(database, one, await Service.start(options));
  }

  async stop(): Promise<void> {
    expect(await Promise.all([this.one.stop(), this.other.stop()])).toEqual([0, 0]);
    await this.database.drop();
    await rm(this.one.dataDir, { recursive: true, force: true });
  }

  of = (party: number) => (party % 2 ? this.other : this.one);

  query = <Row extends object>(sql: string): Promise<Row[]> => query(this.database.url, sql);

  /** Takes all accounts away, and with them whatever they own. */
  async empty(): Promise<void> {
    await this.query('TRUNCATE accounts, teams, invites, credentials, mailed_tokens, outbox CASCADE');
  }

  register = (party: number, email: string, more: object = {}) =>
    this.of(party).post('/v1/auth/register', undefined, { name: `P${party}`, email, password, ...more });

  setRole = (party: number, by: Member, id: string, role: string) =>
    this.of(party).call('PATCH', `/v1/auth/users/${id}/role`, { token: by.token, json: { role } });

  /**
   * The barrier, for two processes: all may read `table` and nobody may write it until `parties` of them stand before
   * their write. So all have read before any has written.
   */
  async race(table: string, parties: number, act: (party: number) => Promise<Answer>): Promise<Answer[]> {
    const gate = new Client({ connectionString: this.database.url });
    await gate.connect();
    try {
      await gate.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`);
      const answers = atOnce(parties, act);
      answers.catch(() => undefined);
      await this.untilWaiting(parties);
      await gate.query('COMMIT');
      return await answers;
    } finally {
      await gate.end();
    }
  }

  private async untilWaiting(parties: number): Promise<void> {
    for (const until = Date.now() + PATIENCE_MS; ; ) {
      const [row] = await this.query<{ n: string }>(
        `SELECT count(*) n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if (Number(row?.n) === parties) return;
      if (Date.now() > until) throw new Error(`only ${row?.n} of ${parties} have come`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** One address in small, large and full-width letters, with spaces around it. */
const spellings = ['zoe', 'ZOE', '\uff5aoe', '\uff3aoe'].flatMap((local) =>
  ['@example.com', '@EXAMPLE.com ', '@Example.Com', '@e\uff58ample.com '].map((domain) => local + domain),
);

/** `201`, or `409 email_taken`, each with how often it came. */
function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status < 400 ? String(status) : `${status} ${body.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

describe('16 registrations at once on two processes', () => {
  let pair: Pair;
  let small: Service[];
  beforeAll(async () => {
    pair = await Pair.start(40);
    const options = { databaseUrl: pair.one.databaseUrl, dataDir: pair.one.dataDir }; // the cap is 3 unless set
    small = [await Service.start(options), await Service.start(options)];
  });
  beforeEach(() => pair.empty());
  afterAll(async () => {
    await Promise.all(small.map((service) => service.stop()));
    await pair.stop();
  });

  const accounts = async () => Number((await pair.query<{ n: string }>('SELECT count(*) n FROM accounts'))[0]?.n);
  const roles = async () => (await pair.query<{ role: string }>('SELECT role FROM accounts')).map(({ role }) => role);
  const rounds = [
    ['held until all have looked', true],
    ['as they come', false],
    ['as they come', false],
    ['as they come', false],
  ] as const;

  it.each(rounds)('never exceed a cap of 3 (%s)', async (_, held) => {
    const act = (party: number) => {
      const json = { name: `P${party}`, email: `p${party}@example.com`, password };
      return (small[party % 2] as Service).post('/v1/auth/register', undefined, json);
    };
    const answers = await (held ? pair.race('accounts', PARTIES, act) : atOnce(PARTIES, act));
    expect(tally(answers)).toEqual({ 201: 3, '403 registration_closed': PARTIES - 3 });
    expect((await roles()).sort()).toEqual(['admin', 'member', 'member']);
  });

  it.each(rounds)('redeem one open invite exactly once (%s)', async (_, held) => {
    const admin = await register(pair.one, 'Ada');
    const invite = (await pair.one.post('/v1/auth/invites', admin.token, { role: 'developer' })).body;
    const act = (party: number) => pair.register(party, `p${party}@example.com`, { invite_token: invite.token });
    const answers = await (held ? pair.race('invites', PARTIES, act) : atOnce(PARTIES, act));
    expect(tally(answers)).toEqual({ 201: 1, '410 invite_redeemed': PARTIES - 1 });
    expect((await roles()).sort()).toEqual(['admin', 'developer']);
  });

  it.each(rounds)('make one account of 16 spellings of an e-mail (%s)', async (_, held) => {
    await register(pair.one, 'Ada');
    const act = (party: number) => pair.register(party, spellings[party] as string);
    const answers = await (held ? pair.race('accounts', PARTIES, act) : atOnce(PARTIES, act));
    expect(tally(answers)).toEqual({ 201: 1, '409 email_taken': PARTIES - 1 });
    expect(await accounts()).toBe(2);
  });
});

describe('two processes on one database', () => {
  let pair: Pair;
  let ada: Member;
  let bob: Member;
  beforeAll(async () => {
    pair = await Pair.start(100);
    ada = await register(pair.one, 'Ada');
    bob = await register(pair.other, 'Bob');
  });
  afterAll(() => pair.stop());

  const ROUNDS = [0, 1, 2, 3, 4, 5, 6, 7];
  /** Every other round is held, in the rest the requests meet as they may. */
  const meet = (round: number, table: string, act: (party: number) => Promise<Answer>) =>
    round % 2 ? pair.race(table, 2, act) : atOnce(2, act);
  const admins = async () =>
    (await pair.query<{ id: string }>(`SELECT id FROM accounts WHERE role = 'admin'`)).map(({ id }) => id);

  it('keeps an admin when two demote each other', async () => {
    expect((await pair.setRole(0, ada, bob.id, 'admin')).status).toBe(200);
    for (const round of ROUNDS) {
      const both = [ada, bob] as const;
      const demote = (party: number) => {
        const [by, of] = party ? [bob, ada] : [ada, bob];
        return pair.setRole(party, by, of.id, 'member');
      };
      const answers = await meet(round, 'accounts', demote);
      const loser = answers.find(({ status }) => status !== 200);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const refusals = round % 2 ? ['409 last_admin'] : ['409 last_admin', '403 forbidden'];
      expect(refusals).toContain(`${loser?.status} ${loser?.body.code}`);
      const [left, ...more] = await admins();
      expect(more).toEqual([]);
      const [winner, demoted] = left === ada.id ? both : [bob, ada];
      expect((await pair.setRole(round, winner, demoted.id, 'admin')).status).toBe(200);
    }
  });

  it('never both revokes and redeems an invite', async () => {
    for (const round of ROUNDS) {
      const { id, token } = (await pair.one.post('/v1/auth/invites', ada.token, {})).body;
      const answers = await meet(round, 'invites', (party) =>
        party === 0
          ? pair.of(round).delete(`/v1/auth/invites/${id}`, ada.token)
          : pair.register(round + 1, `guest${round}@example.com`, { invite_token: token }),
      );
      const outcome = tally(answers);
      const guests = await pair.query(`SELECT id FROM accounts WHERE email = 'guest${round}@example.com'`);
      if (guests.length > 0) expect(outcome).toEqual({ 201: 1, '410 invite_redeemed': 1 });
      else expect(outcome).toEqual({ 200: 1, '410 invite_revoked': 1 });
    }
  });

  it('refuses a revoked key on the very next call to the other', async () => {
    const project = await createProject(pair.one, ada.token);
    await pair.query('UPDATE accounts SET email_verified_at = now()');
    const chat = async (service: Service, key: string) =>
      (await service.post(completions(project), key, ask(project, 'Hi'))).status;
    for (const round of ROUNDS) {
      const [here, there] = [pair.of(round), pair.of(round + 1)];
      const { id, key } = (await here.post('/v1/keys', ada.token, {})).body;
      expect([await chat(here, key), await chat(there, key)]).toEqual([503, 503]); // known, but there is no model
      expect((await here.delete(`/v1/keys/${id}`, ada.token)).status).toBe(200);
      expect([await chat(there, key), await chat(here, key)]).toEqual([401, 401]);
    }
  });

  it('refuses an ended session on the very next call to the other', async () => {
    const me = async (service: Service, token: string) => (await service.get('/v1/auth/me', token)).status;
    for (const round of ROUNDS) {
      const [here, there] = [pair.of(round), pair.of(round + 1)];
      const json = { email: 'bob@example.com', password };
      const { token } = (await here.post('/v1/auth/login', undefined, json)).body;
      expect([await me(here, token), await me(there, token)]).toEqual([200, 200]);
      const [session] = (await here.get('/v1/auth/sessions', token)).body.sessions;
      expect((await here.delete(`/v1/auth/sessions/${session.id}`, bob.token)).status).toBe(200);
      expect([await me(there, token), await me(here, token)]).toEqual([401, 401]);
    }
  });

  it('obeys a changed role, and a removal, on the very next call to the other', async () => {
    const eve = await register(pair.one, 'Eve');
    const invites = async (service: Service) => (await service.post('/v1/auth/invites', eve.token, {})).status;
    for (const round of ROUNDS) {
      expect((await pair.setRole(round, ada, eve.id, 'admin')).status).toBe(200);
      expect([await invites(pair.of(round + 1)), await invites(pair.of(round))]).toEqual([201, 201]);
      expect((await pair.setRole(round, ada, eve.id, 'member')).status).toBe(200);
      expect([await invites(pair.of(round + 1)), await invites(pair.of(round))]).toEqual([403, 403]);
    }
    expect((await pair.one.delete(`/v1/auth/users/${eve.id}`, ada.token)).status).toBe(200);
    expect((await pair.other.get('/v1/auth/me', eve.token)).status).toBe(401);
  });
});
