import { Job } from '../../src/domain/jobs/job.js';
import { as, masterKey } from '../support/monitoring.js';
import { ids } from '../support/records.js';
import { type Member, ownTeam } from '../support/workspace.js';
import { invalid } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const HOUR = 3_600;

describe('usage', () => {
  let app: TestApp;
  let cast: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
  let team: string;
  /** Is the beginning of the present hour, in seconds. */
  let hour: number;

  beforeAll(async () => {
    ({ app, ...cast } = await TestApp.withTeam({ env: { SERVICE_MASTER_KEY: masterKey } }));
    team = (await app.store.accounts.byId(cast.admin.id))?.teamId as string;
    hour = Math.floor(app.clock.now().getTime() / 1000 / HOUR) * HOUR;
    app.clock.advance(1000 * (hour + 1_800) - app.clock.now().getTime());
  });
  afterAll(() => app.stop());

  /** Stores a call that took one second and ended `ago` seconds before now. */
  async function ended(ago: number, by: Member, more: { keyId?: string; failure?: string } = {}) {
    const end = new Date(app.clock.now().getTime() - 1000 * ago);
    const start = new Date(end.getTime() - 1_000);
    const times = { createdAt: start, startedAt: start };
    const about = { kind: 'chat', name: null, projectId: 'prj_1', modelId: 'mdl_1', instance: 1 } as const;
    const teamId = by === cast.stranger ? ownTeam(by.id) : team;
    const owner = { teamId, requestedBy: by.id, keyId: more.keyId ?? null };
    const call = Job.call({ ...about, ...times, ...owner, id: ids.next('job') });
    const { failure } = more;
    const usage = { tokensIn: 7, tokensOut: 3, firstToken: failure ? null : 0.25 };
    const how = failure ? ({ status: 'failed', failure } as const) : ({ status: 'succeeded' } as const);
    await app.store.jobHistory.append(Job.finish(call, { ...how, usage }, end) as never, false);
  }
  const read = (query = '', token = cast.admin.token) => as(app, token).get(`/v1/usage${query}`);

  it('is summed up by bucket and group', async () => {
    const now = hour + 1_800;
    await ended(0, cast.admin, { keyId: 'key_1' });
    await ended(1, cast.admin, { failure: 'inference_timeout' });
    const about = { calls: 2, tokens_in: 14, tokens_out: 6 };
    const latency = { p50: expect.closeTo(1, 1), p95: expect.closeTo(1, 1), p99: expect.closeTo(1, 1) };
    const first = expect.closeTo(0.25, 1);
    const entry = {
      start: hour,
      group: null,
      ...about,
      failures: { inference_timeout: 1 },
      latency,
      time_to_first_token: { p50: first, p95: first, p99: first },
    };
    expect(await read()).toEqual({ since: hour - 24 * HOUR, until: now, usage: [entry], count: 1 });
    const { usage } = await read(`?since=${now - 1}&until=${now}.5&bucket=minute&group_by=key`);
    expect(usage).toMatchObject([
      { start: now - 60, group: null, calls: 1, time_to_first_token: null },
      { start: now, group: 'key_1', calls: 1, failures: {} },
    ]);
    const between = `?since=${now - 0.5}`;
    expect(await read(between)).toMatchObject({ since: now - 0.5, until: now, usage: [{ calls: 1 }] });
    expect(await read(`?until=${now - 0.5}&bucket=day`)).toMatchObject({ until: now - 0.5, usage: [{ calls: 1 }] });
    expect(await read(`?since=${now}&until=${now}`)).toEqual({ since: now, until: now, usage: [], count: 0 });
  });

  it('shows members their own calls, other roles those of their team, or in the operator team all calls', async () => {
    for (const by of [cast.developer, cast.member, cast.stranger]) await ended(2 * HOUR, by);
    const seenBy = async (token: string) => {
      const { usage } = await read(`?until=${hour}&group_by=account`, token);
      return usage.map(({ group }: { group: string }) => group);
    };
    const all = [cast.developer.id, cast.member.id, cast.stranger.id].sort();
    for (const token of [cast.admin.token, cast.developer.apiKey, masterKey]) expect(await seenBy(token)).toEqual(all);
    expect(await seenBy(cast.member.token)).toEqual([cast.member.id]);
    expect(await seenBy(cast.stranger.token)).toEqual([cast.stranger.id]);
  });

  it.each([
    ['since=yesterday', 'since'],
    ['until=-1', 'until'],
    ['bucket=week', 'bucket'],
    ['group_by=user', 'group_by'],
    ['since=5&until=4.999', 'until'],
  ])('refuses ?%s', async (query, path) => {
    expect(await app.get(`/v1/usage?${query}`, cast.member.token)).toMatchObject(invalid(path));
  });
});
