import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';

const REGISTRANT = join(__dirname, '../../dist/tests/support/registrant.js');

let parties: ChildProcess[];
beforeAll(() => {
  parties = ['one', 'other'].map(() => fork(REGISTRANT, [], { execArgv: [] }));
});
afterAll(async () => {
  const exits = parties.map((party) => once(party, 'exit'));
  for (const party of parties) party.disconnect();
  await Promise.all(exits);
});

/** Two processes, one database, nobody registered yet; both have looked before either may go on. */
async function race(isolation: 'SERIALIZABLE' | 'READ COMMITTED', { url }: TestDatabase) {
  const hear = async (party: ChildProcess) => (await once(party, 'message'))[0] as Record<string, unknown>;
  const looking = parties.map(hear);
  parties.forEach((party, n) => void party.send({ url, isolation, name: ['ada', 'bob'][n] }));
  expect(await Promise.all(looking)).toEqual([{ looked: true }, { looked: true }]);
  const results = parties.map(hear);
  for (const party of parties) party.send('go');
  const outcome = await Promise.all(results);
  const accounts = await query<{ role: string; team_id: string }>(url, 'SELECT role, team_id FROM accounts');
  return {
    outcome,
    roles: accounts.map(({ role }) => role).sort(),
    teams: new Set(accounts.map((one) => one.team_id)).size,
  };
}

describe('two first registrations at the same instant', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await freshDatabase();
  });
  afterEach(() => database.drop());

  it('make exactly one admin, and both succeed', async () => {
    const { outcome, roles, teams } = await race('SERIALIZABLE', database);
    expect(outcome).toEqual([{ registered: expect.any(String) }, { registered: expect.any(String) }]);
    expect(roles).toEqual(['admin', 'member']);
    expect(teams).toBe(1);
  });

  it('would make two with a weaker isolation: the test above can fail', async () => {
    await query(database.url, 'DROP INDEX teams_one_operator'); // the last guard, which would turn it into a retry
    const { roles } = await race('READ COMMITTED', database);
    expect(roles).toEqual(['admin', 'admin']);
  });
});
