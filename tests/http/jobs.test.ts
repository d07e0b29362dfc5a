import { Job } from '../../src/domain/jobs/job.js';
import { as, masterKey } from '../support/monitoring.js';
import { ids } from '../support/records.js';
import { createProject, type Member, ownTeam } from '../support/workspace.js';
import { invalid, notFound, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const unknown = 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

describe('jobs', () => {
  let app: TestApp;
  let cast: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
  let admin: ReturnType<typeof as>;
  let member: ReturnType<typeof as>;
  let regular: ReturnType<typeof as>;
  let master: ReturnType<typeof as>;

  beforeAll(async () => {
    ({ app, ...cast } = await TestApp.withTeam({ env: { SERVICE_MASTER_KEY: masterKey } }));
    await app.verifyEmails();
    [admin, member, regular] = [as(app, cast.admin.apiKey), as(app, cast.member.token), as(app, cast.stranger.token)];
    master = as(app, masterKey);
  });
  afterAll(() => app.stop());

  const post = (json: object, by = admin) => by.call('POST', '/v1/jobs', { json });
  const patch = (id: string, json: object, by = admin) => by.call('PATCH', `/v1/jobs/${id}`, { json });
  const cancel = (id: string, by = admin) => by.call('POST', `/v1/jobs/${id}/cancel`);

  it('finds own jobs by a part of their name, but never by the hidden name of others', async () => {
    const { id } = (await post({ kind: 'external', name: 'Retrain Weights' })).body;
    const found = async (q: string, by = admin) => {
      const { body } = await by.call('GET', `/v1/jobs?q=${encodeURIComponent(q)}`);
      return body.jobs?.map((job: { id: string }) => job.id) ?? body.details;
    };
    expect(await found('WEIGHT')).toEqual([id]);
    expect(await found('weight', member)).toEqual([id]);
    expect(await found('weight', regular)).toEqual([]);
    expect(await found('weight', master)).toEqual([]);
    for (const q of ['', 'a'.repeat(101)])
      expect(await found(q)).toEqual([{ path: 'q', message: 'must have 1 to 100 characters' }]);
  });

  it('records work that runs elsewhere, from its beginning to its end', async () => {
    const project = await createProject(app, cast.admin.token);
    const answer = await post({
      kind: 'external',
      name: ' training ',
      project_id: project,
      progress: { done: 0, total: 8 },
    });
    expect(answer).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(/^job_/),
        kind: 'external',
        mode: 'async',
        status: 'running',
        name: 'training',
        project_id: project,
        dataset_id: null,
        model_id: null,
        requested_by: cast.admin.id,
        created_at: expect.any(Number),
        started_at: answer.body.created_at,
        finished_at: null,
        duration: null,
        progress: { done: 0, total: 8 },
        result: null,
        error: null,
        usage: null,
        cost: null,
        currency: 'USD',
        attempts: null,
      },
    });
    const { id } = answer.body;
    const under = await admin.report(id, { progress: { done: 3 }, result: { loss: 0.5 } });
    expect(under).toEqual({ ...answer.body, progress: { done: 3, total: 8 }, result: { loss: 0.5 } });
    const end = await admin.report(id, {
      status: 'failed',
      error: 'out of memory',
      progress: { done: 4, total: null },
    });
    expect(end).toEqual({
      ...under,
      status: 'failed',
      error: 'out of memory',
      progress: { done: 4, total: null },
      finished_at: expect.any(Number),
      duration: expect.any(Number),
    });
    expect(end.duration).toBeCloseTo(end.finished_at - end.started_at, 3);
    expect(await admin.get(`/v1/jobs/${id}`)).toEqual(end);
  });

  it('leaves the time in the queue out of the duration', async () => {
    const queued = await admin.job({ status: 'queued' });
    expect(queued).toMatchObject({ status: 'queued', started_at: null });
    const running = await admin.report(queued.id, { status: 'running' });
    expect(running.started_at).toBeGreaterThanOrEqual(queued.created_at);
    const end = await admin.report(queued.id, { status: 'succeeded' });
    expect(end.duration).toBeCloseTo(end.finished_at - running.started_at, 3);
    const never = await admin.job({ status: 'queued' });
    expect(await admin.report(never.id, { status: 'failed' })).toMatchObject({ started_at: null, duration: null });
  });

  it('changes nothing once a job has finished', async () => {
    for (const status of ['succeeded', 'failed', 'cancelled']) {
      const job = await admin.ended(status);
      for (const change of [{}, { status }, { status: 'running' }, { progress: { done: 1 } }, { error: 'late' }]) {
        expect(await patch(job.id, change)).toMatchObject(refusal(409, 'job_finished'));
      }
      expect(await cancel(job.id)).toMatchObject(refusal(409, 'job_finished'));
      expect(await admin.get(`/v1/jobs/${job.id}`)).toEqual(job);
    }
  });

  it('lets exactly one of many simultaneous reports end a job', async () => {
    const { id } = await admin.job();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => patch(id, { status: n % 2 ? 'failed' : 'succeeded', result: n })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
    expect(await admin.get(`/v1/jobs/${id}`)).toEqual(won[0]?.body);
  });

  it('loses none of several simultaneous reports', async () => {
    const { id } = await admin.job();
    await Promise.all([
      admin.report(id, { progress: { done: 1, total: 2 } }),
      admin.report(id, { result: 'half' }),
      admin.report(id, { error: 'a warning' }),
    ]);
    expect(await admin.get(`/v1/jobs/${id}`)).toMatchObject({
      progress: { done: 1, total: 2 },
      result: 'half',
      error: 'a warning',
    });
  });

  it('names the invalid field when it refuses a job or a report', async () => {
    expect(await post({})).toMatchObject(invalid('kind'));
    expect(await post({ kind: 'external' })).toMatchObject(invalid('name'));
    expect(await post({ kind: 'chat', name: 'x' })).toMatchObject(invalid('kind'));
    for (const name of ['', '  ', 'x'.repeat(201)]) {
      const answer = await post({ kind: 'external', name });
      expect(answer).toMatchObject(invalid('name'));
      expect(answer.body.error).toContain('200');
    }
    expect(await post({ kind: 'external', name: '\u{1F986}'.repeat(200) })).toMatchObject({ status: 201 });
    expect(await post({ kind: 'external', name: 'x', status: 'failed' })).toMatchObject(invalid('status'));
    const { id } = await admin.job({ progress: { done: 2, total: 5 } });
    for (const done of [-1, 1.5, '1', null, 2 ** 31]) {
      expect(await patch(id, { progress: { done } })).toMatchObject(invalid('progress.done'));
    }
    expect(await patch(id, { progress: { done: 6 } })).toMatchObject(invalid('progress.done'));
    expect(await patch(id, { progress: 1 })).toMatchObject(invalid('progress'));
    expect(await patch(id, { status: 'done' })).toMatchObject(invalid('status'));
    expect(await patch(id, { status: 'queued' })).toMatchObject(invalid('status'));
    expect(await patch(id, { error: 'ä'.repeat(2_049) })).toMatchObject(invalid('error'));
    expect(await patch(id, { result: 'x'.repeat(65_535) })).toMatchObject(invalid('result'));
    expect(await patch(id, { error: 'ä'.repeat(2_048), result: 'x'.repeat(65_534) })).toMatchObject({ status: 200 });
  });

  it('accepts only projects of the caller’s team', async () => {
    const project = await createProject(app, cast.admin.token);
    for (const by of [regular, master]) {
      expect(await post({ kind: 'external', name: 'x', project_id: project }, by)).toMatchObject(notFound);
    }
    for (const project_id of ['prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', '', 'x']) {
      expect(await post({ kind: 'external', name: 'x', project_id })).toMatchObject(notFound);
    }
  });

  it('hides the content of another team’s job from operators, and the whole job from others', async () => {
    const theirs = await regular.job({ name: 'secret', status: 'queued' });
    await regular.report(theirs.id, { result: 'secret', error: 'secret' });
    const full = { name: 'secret', result: 'secret', error: 'secret' };
    const hidden = { name: null, result: null, error: null };
    const at = `/v1/jobs/${theirs.id}`;
    expect(await regular.get(at)).toMatchObject(full);
    for (const by of [admin, member, master]) {
      expect(await by.get(at)).toMatchObject({ ...hidden, id: theirs.id, status: 'queued' });
      const { jobs } = await by.get('/v1/jobs?limit=1');
      expect(jobs).toMatchObject([{ ...hidden, id: theirs.id }]);
    }
    for (const call of [patch(theirs.id, { status: 'running' }), cancel(theirs.id)]) {
      expect(await call).toMatchObject(notFound);
    }
    const ours = await admin.job();
    expect(await regular.call('GET', `/v1/jobs/${ours.id}`)).toMatchObject(notFound);
    expect(await patch(ours.id, { nonsense: 1, status: 1 }, regular)).toMatchObject(notFound);
    expect(await admin.get('/v1/jobs?q=secret')).toMatchObject({ jobs: [], next_cursor: null });
    expect((await regular.get('/v1/jobs')).jobs.map(({ id }: { id: string }) => id)).toEqual([theirs.id]);
    expect(await member.get(`/v1/jobs/${ours.id}`)).toMatchObject({ name: 'nightly training' });
    expect(await master.report(theirs.id, { status: 'running' })).toMatchObject({ ...hidden, status: 'running' });
    expect(await regular.report(theirs.id, { status: 'succeeded' })).toMatchObject(full);
  });

  it('lets the master key record jobs', async () => {
    const job = await master.job({ name: 'cron' });
    expect(job).toMatchObject({ name: 'cron', requested_by: 'master' });
    expect(await member.get(`/v1/jobs/${job.id}`)).toMatchObject({ name: 'cron' });
    expect(await regular.call('GET', `/v1/jobs/${job.id}`)).toMatchObject(notFound);
    expect(await cancel(job.id)).toMatchObject(notFound);
    expect(await cancel(job.id, master)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  it('lets only accounts with a verified e-mail report jobs', async () => {
    const { id } = await admin.job();
    const developer = as(app, cast.developer.token);
    await app.setAccount(cast.developer.id, { emailVerifiedAt: null });
    for (const act of [post({ kind: 'external', name: 'x' }, developer), patch(id, {}, developer)]) {
      expect(await act).toMatchObject(refusal(403, 'email_unverified'));
    }
    await app.setAccount(cast.developer.id, { emailVerifiedAt: new Date() });
    expect(await post({ kind: 'external', name: 'x' }, developer)).toMatchObject({ status: 201 });
    expect(await cancel(id, developer)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    expect(await cancel(unknown)).toMatchObject(notFound);
  });

  it('refuses to change a job that the service recorded for a chat call', async () => {
    const { id } = await admin.job();
    const job = (await app.store.jobs.find(id)) as Job;
    await app.store.jobs.update({ ...job, kind: 'chat', mode: 'sync' });
    expect(await patch(id, { status: 'failed' })).toMatchObject(invalid(''));
    expect(await patch(id, { progress: { done: 1 } })).toMatchObject(invalid(''));
    expect(await cancel(id)).toMatchObject(invalid(''));
    expect(await admin.get(`/v1/jobs/${id}`)).toMatchObject({ status: 'running' });
  });

  it('ends a page of jobs before its limit if their `result` fields are long', async () => {
    const result = 'x'.repeat(65_000);
    const { id } = await regular.job();
    await regular.report(id, { result });
    const job = (await app.store.jobs.find(id)) as Job;
    await app.store.jobs.add(Array.from({ length: 65 }, () => ({ ...job, id: ids.next('job') })));
    const first = await regular.get('/v1/jobs?limit=1000');
    expect(first.count).toBeLessThan(66);
    expect(first.next_cursor).toBe(first.jobs.at(-1).id);
    const rest = await regular.get(`/v1/jobs?limit=1000&cursor=${first.next_cursor}`);
    expect(first.count + rest.count).toBeGreaterThanOrEqual(66);
    expect(rest.next_cursor).toBeNull();
  });
});

const HOUR = 3_600;

describe('usage', () => {
  let app: TestApp;
  let cast: Record<'admin' | 'developer' | 'member' | 'stranger', Member>;
  let team: string;
  /** The beginning of the present hour, in seconds. */
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
      cost: null,
    };
    const currency = 'USD';
    expect(await read()).toEqual({ since: hour - 24 * HOUR, until: now, currency, usage: [entry], count: 1 });
    const { usage } = await read(`?since=${now - 1}&until=${now}.5&bucket=minute&group_by=key`);
    expect(usage).toMatchObject([
      { start: now - 60, group: null, calls: 1, time_to_first_token: null },
      { start: now, group: 'key_1', calls: 1, failures: {} },
    ]);
    const between = `?since=${now - 0.5}`;
    expect(await read(between)).toMatchObject({ since: now - 0.5, until: now, usage: [{ calls: 1 }] });
    expect(await read(`?until=${now - 0.5}&bucket=day`)).toMatchObject({ until: now - 0.5, usage: [{ calls: 1 }] });
    expect(await read(`?since=${now}&until=${now}`)).toEqual({ since: now, until: now, currency, usage: [], count: 0 });
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
