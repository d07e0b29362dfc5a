import { rm } from 'node:fs/promises';
import { gate } from '../support/barrier.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { answering, type Evaluated, ended, evaluatedProject, frozenDataset, records } from '../support/evaluations.js';
import { eventually } from '../support/eventually.js';
import { sendJson } from '../support/local-server.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { completion, answering as refusing, ScriptedEngine } from '../support/scripted-engine.js';
import { Service, temporaryFolder } from '../support/service.js';
import { createProject, registeredModel } from '../support/workspace.js';

const unknown = 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
const spec = {
  goal: 'Answer',
  system_prompt: 'Answer the question.',
  acceptance: { metric: 'normalized', threshold: 0.8 },
};

describe('evaluations', () => {
  let engine: ScriptedEngine;
  let database: TestDatabase;
  let service: Service;
  let other: Service;
  let cast: Cast;
  let admin: ReturnType<typeof as>;
  let ten: Evaluated;
  const env = () => ({
    SERVICE_MASTER_KEY: masterKey,
    SERVICE_MAX_ACCOUNTS: '9',
    SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
  });
  const model = () => ({ runtime: 'openai', base_url: engine.url, model: 'big-model' });
  const prepare = (count: number) =>
    evaluatedProject(service, cast.admin.token, { spec, model: model(), rows: records(count) });

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    database = await freshDatabase();
    const options = { databaseUrl: database.url, dataDir: await temporaryFolder(), env: env() };
    service = await Service.start(options);
    cast = await castOf(service);
    admin = as(service, cast.admin.apiKey);
    engine.script = answering();
    ten = await prepare(10);
    other = await Service.start(options);
  });
  beforeEach(() => {
    engine.script = answering();
    engine.asked.length = 0;
  });
  afterAll(async () => {
    await Promise.all([service.stop(), other.stop()]);
    await database.drop();
    await engine.close();
    await rm(service.dataDir, { recursive: true, force: true });
  });

  const start = ({ project, dataset }: Evaluated, more: object = {}, by = admin) =>
    by.call('POST', '/v1/jobs', { json: { kind: 'evaluation', project_id: project, dataset_id: dataset, ...more } });
  const run = async (subject: Evaluated) => ended(service, cast.admin.token, (await start(subject)).body.id);
  const refused = (status: number, code: string) => ({ status, body: expect.objectContaining({ code }) });
  const invalid = (path: string) => ({
    status: 422,
    body: expect.objectContaining({ code: 'invalid_request', details: [expect.objectContaining({ path })] }),
  });
  const resultsOf = async (id: string) => (await admin.get(`/v1/jobs/${id}/results?limit=1000`)).results;

  it('asks the model record by record, scores the answers, and names everything that a repetition needs', async () => {
    engine.script = answering((number) => number === 3);
    const begun = await start(ten);
    expect(begun).toEqual({
      status: 202,
      body: expect.objectContaining({
        kind: 'evaluation',
        mode: 'async',
        status: 'queued',
        name: 'Questions',
        project_id: ten.project,
        dataset_id: ten.dataset,
        model_id: ten.model,
        requested_by: cast.admin.id,
        started_at: null,
        progress: { done: 0, total: 10 },
        result: null,
      }),
    });
    const job = await ended(service, cast.admin.token, begun.body.id);
    const { body: dataset } = await service.get(
      `/v1/projects/${ten.project}/datasets/${ten.dataset}`,
      cast.admin.token,
    );
    expect(job).toMatchObject({
      status: 'succeeded',
      error: null,
      progress: { done: 10, total: 10 },
      result: {
        metric: 'normalized',
        tolerance: null,
        count: 10,
        right: 9,
        accuracy: 0.9,
        interval: [expect.closeTo(0.596, 3), expect.closeTo(0.982, 3)],
        errors: 0,
        groups: [
          { group: 'odd', count: 5, right: 4, accuracy: 0.8 },
          { group: 'even', count: 5, right: 5, accuracy: 1 },
        ],
        groups_left_out: 0,
        latency: { p50: expect.any(Number), max: expect.any(Number) },
        tokens: { prompt: 50, completion: 20 },
        dataset: { id: ten.dataset, version: 1, content_sha256: dataset.content_sha256 },
        model: { id: ten.model, version: 1 },
        project: { id: ten.project, version: 1 },
        runtime: { runtime: 'openai', base_url: engine.url, model: 'big-model', temperature: 0, max_tokens: null },
      },
    });
    expect(engine.asked.map(({ body }) => body.messages)).toEqual(
      records(10).map(({ input }) => [
        { role: 'system', content: spec.system_prompt },
        { role: 'user', content: input },
      ]),
    );
    expect((await admin.get(`/v1/jobs?kind=evaluation&status=succeeded`)).jobs[0]).toEqual(job);
  });

  it('shows a row for each record, in pages', async () => {
    engine.script = answering((number) => number === 3);
    const { id } = await run(ten);
    const first = await admin.get(`/v1/jobs/${id}/results?limit=3`);
    expect(first).toMatchObject({ count: 3, next_cursor: '3' });
    expect(first.results[2]).toEqual({
      record_id: 'r3',
      group: 'odd',
      input: 'question 3',
      expected: 'answer 3',
      output: 'no idea',
      score: 0,
      latency: expect.any(Number),
      tokens: { prompt: 5, completion: 2 },
      error: null,
      model_id: ten.model,
    });
    const rest = await admin.get(`/v1/jobs/${id}/results?cursor=3`);
    expect(rest).toMatchObject({ count: 7, next_cursor: null });
    expect(rest.results.map(({ record_id }: { record_id: string }) => record_id)[0]).toBe('r4');
    expect(await admin.call('GET', `/v1/jobs/${id}/results?cursor=x`)).toEqual(invalid('cursor'));
    const external = await admin.job();
    expect(await admin.call('GET', `/v1/jobs/${external.id}/results`)).toEqual(refused(404, 'not_found'));
  });

  it('compares two evaluations of the same records', async () => {
    engine.script = answering((number) => number <= 3);
    const before = await run(ten);
    engine.script = answering((number) => number === 3 || number === 4);
    const after = await run(ten);
    const compared = await admin.get(`/v1/jobs/${after.id}/compare?with=${before.id}`);
    expect(compared).toMatchObject({
      job_id: after.id,
      with: before.id,
      before: { count: 10, right: 7 },
      after: { count: 10, right: 8 },
      turned_right: 2,
      turned_wrong: 1,
      groups: [
        { group: 'odd', before: { right: 3 }, after: { right: 4 }, turned_right: 1, turned_wrong: 0 },
        { group: 'even', before: { right: 4 }, after: { right: 4 }, turned_right: 1, turned_wrong: 1 },
      ],
      right: [
        { record_id: 'r1', group: 'odd' },
        { record_id: 'r2', group: 'even' },
      ],
      wrong: [{ record_id: 'r4', group: 'even' }],
      changed: [],
      latency: { before: expect.any(Number), after: expect.any(Number) },
      tokens: { before: { prompt: 50, completion: 20 }, after: { prompt: 50, completion: 20 } },
    });
    engine.script = ({ body }, response) => sendJson(response, 200, completion(body.model, 'not this one'));
    const mute = await run(ten);
    expect(await admin.get(`/v1/jobs/${mute.id}/compare?with=${after.id}`)).toMatchObject({
      changed: [{ record_id: 'r3' }, { record_id: 'r4' }],
      tokens: null,
    });
    const elsewhere = await frozenDataset(service, cast.admin.token, ten.project, records(2));
    const stranger = await run({ ...ten, dataset: elsewhere });
    const compare = (query: string) => admin.call('GET', `/v1/jobs/${after.id}/compare${query}`);
    expect(await compare(`?with=${stranger.id}`)).toEqual(invalid('with'));
    for (const wrong of ['', '?with=nonsense']) expect(await compare(wrong)).toEqual(invalid('with'));
    expect(await compare(`?with=${unknown}`)).toEqual(refused(404, 'not_found'));
    expect(await admin.call('GET', `/v1/jobs/${unknown}/compare?with=${before.id}`)).toEqual(refused(404, 'not_found'));
    const project = `/v1/projects/${ten.project}`;
    const { version } = (await service.get(project, cast.admin.token)).body;
    const change = (version: number, spec: object) => service.put(project, cast.admin.token, { version, spec });
    await change(version, { ...spec, acceptance: { metric: 'exact' } });
    const strict = await run(ten);
    await change(version + 1, spec);
    const { body } = await admin.call('GET', `/v1/jobs/${after.id}/compare?with=${strict.id}`);
    expect(body.details).toEqual([
      { path: 'with', message: 'must be an evaluation by the same metric: it is by exact, this one by normalized' },
    ]);
  });

  it('can fire an alert when it ends', async () => {
    const rule = await admin.rule({ job_kind: 'evaluation', threshold: 1 });
    engine.script = refusing(400, { error: { message: 'no' } });
    const stopped = await prepare(2);
    const { id } = (await start(stopped)).body;
    await service.call('DELETE', `/v1/projects/${stopped.project}/runtime`, { token: cast.admin.token });
    const job = await ended(service, cast.admin.token, id);
    expect(job).toMatchObject({ status: 'failed', result: null, error: expect.stringContaining('disconnected') });
    const alerts = await admin.alerts();
    expect(alerts.filter(({ rule_id }: { rule_id: string }) => rule_id === rule.id)).toMatchObject([
      { job_id: job.id },
    ]);
    await service.call('DELETE', `/v1/alerts/rules/${rule.id}`, { token: cast.admin.token });
  });

  it('is for admins and developers of the team with a verified e-mail, by session or key', async () => {
    const [developer, member, regular, master] = [
      as(service, cast.developer.token),
      as(service, cast.member.token),
      as(service, cast.regular.token),
      as(service, masterKey),
    ];
    expect(await start(ten, {}, member)).toEqual(refused(403, 'forbidden'));
    expect(await start(ten, {}, regular)).toEqual(refused(404, 'not_found'));
    expect(await start(ten, {}, master)).toEqual(refused(401, 'session_required'));
    const { body } = await start(ten, { model_id: ten.model, name: '  shorter prompt ' }, developer);
    expect(body.name).toBe('shorter prompt');
    const { id } = await ended(service, cast.admin.token, body.id);
    expect((await member.get(`/v1/jobs/${id}/results`)).count).toBe(10);
    for (const stranger of [regular, master])
      expect(await stranger.call('GET', `/v1/jobs/${id}/results`)).toEqual(refused(404, 'not_found'));
    expect((await master.get(`/v1/jobs/${id}`)).result).toBe(null);
    await query(database.url, 'UPDATE accounts SET email_verified_at = NULL WHERE id = $1', [cast.developer.id]);
    expect(await start(ten, {}, developer)).toEqual(refused(403, 'email_unverified'));
    await query(database.url, 'UPDATE accounts SET email_verified_at = now()');
  });

  it('asks for JSON, compares a field of it, and counts the valid answers', async () => {
    const schema = { type: 'object', properties: { answer: { pattern: '^answer' } }, required: ['answer'] };
    const response_format = { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
    const project = async (acceptance: object, format: object = response_format) =>
      evaluatedProject(service, cast.admin.token, {
        spec: { ...spec, response_format: format, acceptance },
        model: model(),
        rows: records(4),
      });
    const answers = ['{"answer": "answer 1"}', '{"answer": "answer 7"}', '{"answer": "no idea"}', 'answer 4'];
    engine.script = ({ body }, response) => {
      const number = Number(body.messages.at(-1).content.split(' ').at(-1));
      sendJson(response, 200, completion(body.model, answers[number - 1]));
    };
    const counted = await run(await project({ metric: 'json_schema' }));
    expect(counted.result).toMatchObject({ metric: 'json_schema', right: 2, errors: 0, field: null });
    expect((await resultsOf(counted.id)).map(({ output }: { output: string }) => output)).toEqual(answers);
    expect(engine.asked.map(({ body }) => body.response_format)).toEqual(Array(4).fill(response_format));
    const compared = await run(await project({ metric: 'exact', field: 'answer' }));
    expect(compared.result).toMatchObject({ metric: 'exact', right: 1, errors: 0, field: 'answer' });
    expect(compared.result.runtime).toMatchObject({ response_format: 'json_schema' });

    const unfit = await project(
      { metric: 'json_schema' },
      { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'text' } } },
    );
    expect(await start(unfit)).toEqual(invalid('project_id'));
    const plan = await service.post(`/v1/projects/${unfit.project}/plan`, cast.admin.token, { version: 1 });
    expect(plan.body.findings[0]).toMatchObject({ level: 'blocking', code: 'response_format_invalid' });
  });

  it('is refused if its objects cannot be evaluated', async () => {
    for (const name of ['', ' ', 'x'.repeat(201), 7]) expect(await start(ten, { name })).toEqual(invalid('name'));
    const missing = 'dst_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
    expect(await start(ten, { dataset_id: missing })).toEqual(refused(404, 'not_found'));
    expect(await start(ten, { model_id: missing.replace('dst', 'mdl') })).toEqual(refused(404, 'not_found'));
    expect(await admin.call('POST', '/v1/jobs', { json: { kind: 'evaluation', project_id: 7 } })).toMatchObject({
      status: 422,
      body: { details: [{ path: 'project_id' }, { path: 'dataset_id' }] },
    });
    const datasets = `/v1/projects/${ten.project}/datasets`;
    const { body: editable } = await service.post(datasets, cast.admin.token, { records: records(1) });
    expect(await start(ten, { dataset_id: editable.id })).toEqual(invalid('dataset_id'));
    const another = await registeredModel(service, cast.admin.token, ten.project);
    expect(await start(ten, { model_id: another })).toEqual(invalid('model_id'));

    const project = await createProject(service, cast.admin.token);
    const dataset = await frozenDataset(service, cast.admin.token, project, records(1));
    const bare = { project, dataset, model: '' };
    expect(await start(bare)).toEqual(refused(503, 'runtime_not_connected'));
    const own = await registeredModel(service, cast.admin.token, project, model());
    await service.put(`/v1/projects/${project}/runtime`, cast.admin.token, { model_id: own });
    expect(await start(bare)).toEqual(refused(503, 'runtime_stopped'));
    const change = { version: 1, spec: { acceptance: { metric: 'bleu' } } };
    await service.put(`/v1/projects/${project}`, cast.admin.token, change);
    expect(await start(bare)).toEqual(invalid('project_id'));
  });

  it('ends when it is cancelled, or when its project is deleted', async () => {
    for (const end of ['cancel', 'delete']) {
      const subject = await prepare(4);
      const held = holding(2);
      const { body } = await start(subject);
      await held.reached;
      const status = end === 'cancel' ? await cancelled(body.id) : await deleted(subject.project);
      expect(status).toBe(200);
      held.release();
      const job = await ended(service, cast.admin.token, body.id);
      if (end === 'cancel') expect(job).toMatchObject({ status: 'cancelled', result: null });
      else expect(job).toMatchObject({ status: 'failed', error: 'The project was deleted.' });
      await eventually(async () => (await locked()) === 0);
      expect(engine.asked.length).toBeLessThanOrEqual(2);
      if (end === 'delete')
        expect(await admin.call('GET', `/v1/jobs/${body.id}/results`)).toEqual(refused(404, 'not_found'));
      engine.asked.length = 0;
    }
  });

  it('runs alone in its team, with at most twenty more in the queue, and waits for no other team', async () => {
    const { token, apiKey } = cast.regular;
    const others = await evaluatedProject(service, token, { spec, model: model(), rows: records(1) });
    const running = async () => (await admin.get('/v1/jobs?kind=evaluation&status=running')).count;
    const held = holdingAll();
    const queued: string[] = [];
    let answer = await start(ten);
    // The running evaluation takes no place in the queue.
    for (; answer.status === 202 && queued.length < 40; answer = await start(ten)) queued.push(answer.body.id);
    expect(answer).toEqual(refused(429, 'model_busy'));
    expect([20, 21]).toContain(queued.length);
    await eventually(async () => (await running()) === 1);
    const own = await start(others, {}, as(service, apiKey));
    await eventually(async () => (await running()) === 2);
    for (const id of queued) expect(await cancelled(id)).toBe(200);
    held.release();
    expect(await ended(service, token, own.body.id)).toMatchObject({ status: 'succeeded' });
    expect(await run(ten)).toMatchObject({ status: 'succeeded' });
  });

  it('finishes after kill -9 with exactly one row for each of 40 records, and with the right score', async () => {
    const wrong = (number: number) => number % 4 === 0;
    const subject = await prepare(40);
    const held = holding(24, wrong);
    const { body } = await start(subject);
    await held.reached;
    const asked = engine.asked.length;
    const dying = runs(service, body.id) ? service : other;
    await dying.kill();
    held.release();
    const killed = Date.now();
    await engine.wasAsked(asked + 1);
    expect(Date.now() - killed).toBeLessThan(10_000);
    const survivor = dying === service ? other : service;
    const job = await ended(survivor, cast.admin.token, body.id);
    admin = as(survivor, cast.admin.apiKey);
    expect(job).toMatchObject({ status: 'succeeded', progress: { done: 40, total: 40 } });
    expect(job.result).toMatchObject({
      count: 40,
      right: 30,
      accuracy: 0.75,
      interval: [expect.closeTo(0.598, 3), expect.closeTo(0.858, 3)],
      groups: [
        { group: 'odd', count: 20, right: 20, accuracy: 1 },
        { group: 'even', count: 20, right: 10, accuracy: 0.5 },
      ],
    });
    const rows = await resultsOf(body.id);
    expect(rows.map(({ record_id }: { record_id: string }) => record_id)).toEqual(records(40).map(({ id }) => id));
    // Only the record without a score is asked once more.
    expect(engine.asked.length).toBeGreaterThanOrEqual(41);
    expect(engine.asked.length).toBeLessThanOrEqual(42);
  });

  /** Makes the engine wait with its nth answer until `release` is called. */
  function holding(nth: number, wrong?: (number: number) => boolean) {
    const { opened, open: release } = gate();
    const before = engine.asked.length;
    engine.script = async (asked, response) => {
      if (engine.asked.length - before === nth) await opened;
      answering(wrong)(asked, response);
    };
    return { reached: engine.wasAsked(before + nth), release };
  }

  /** Makes the engine wait with every answer until `release` is called. */
  function holdingAll() {
    const { opened, open: release } = gate();
    engine.script = (asked, response) => void opened.then(() => answering()(asked, response));
    return { release };
  }

  const cancelled = async (id: string) => (await admin.call('POST', `/v1/jobs/${id}/cancel`)).status;
  const deleted = async (project: string) =>
    (await service.call('DELETE', `/v1/projects/${project}`, { token: cast.admin.token })).status;

  const locked = async () => {
    const held = 'SELECT count(*)::integer AS n FROM graphile_worker.jobs WHERE locked_by IS NOT NULL';
    return (await query<{ n: number }>(database.url, held))[0]?.n;
  };

  const runs = ({ errors }: Service, id: string) =>
    errors.split('\n').some((line) => line.includes('"event":"job runs"') && line.includes(id));
});
