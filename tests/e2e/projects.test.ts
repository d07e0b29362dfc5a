import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../src/domain/workspace/starter.js';
import { query } from '../support/database.js';
import { ended } from '../support/evaluations.js';
import { descendants } from '../support/processes.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  moveToOwnTeam,
  readyProject,
  register,
  registeredModel,
  untilState,
} from '../support/workspace.js';

const projects = '/v1/projects';

let service: Service;
let admin: Member;
let stranger: Member;
beforeAll(async () => {
  service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '10' } });
  admin = await register(service, 'Ada');
  stranger = await register(service, 'Eve');
  await moveToOwnTeam(service.databaseUrl as string, stranger.id);
});
afterAll(() => service.stop());

describe('projects', () => {
  let developer: Member;
  let member: Member;
  /** Its runtime is ready. */
  let running: string;

  beforeAll(async () => {
    developer = await register(service, 'Dan');
    member = await register(service, 'Mia');
    const role = `UPDATE accounts SET role = 'developer' WHERE id = $1`;
    await query(service.databaseUrl as string, role, [developer.id]);
    running = await readyProject(service, admin.token);
  });

  const update = (id: string, json: object) => service.put(`${projects}/${id}`, admin.token, json);

  it('are listed, newest first, with their models and runtimes, and no other team’s', async () => {
    const bare = await createProject(service, admin.token, { goal: 'a' });
    const id = await createProject(service, developer.token, { goal: 'b' });
    const model = await registeredModel(service, admin.token, id);
    await service.put(`${projects}/${id}/runtime`, admin.token, { model_id: model });
    const theirs = await createProject(service, stranger.token);
    const { status, body } = await service.get(projects, member.token);
    expect(status).toBe(200);
    expect(body.projects.slice(0, 2)).toEqual([
      (await service.get(`${projects}/${id}`, member.token)).body,
      (await service.get(`${projects}/${bare}`, member.token)).body,
    ]);
    expect(body.projects[0]).toMatchObject({ runtime: { state: 'stopped', model_id: model }, models: [{ id: model }] });
    expect(body.count).toBe(body.projects.length);
    expect(body.next_cursor).toBeNull();
    expect(body.conversations).toEqual([]);
    expect((await service.get(projects, stranger.token)).body.projects.map((one: { id: string }) => one.id)).toEqual([
      theirs,
    ]);
  });

  const chat = async ({ apiKey }: Member, conversation: string) => {
    const options = {
      token: apiKey,
      json: ask(running, 'What is 7 + 5?'),
      headers: { 'X-Conversation-Id': conversation },
    };
    return (await service.call('POST', completions(running), options)).headers.get('x-conversation-id') as string;
  };
  const conversations = async ({ token }: Member) => (await service.get(projects, token)).body.conversations;

  it('are listed with the caller’s own conversations, those of the newest turn first', async () => {
    const [first, second] = [await chat(admin, 'new'), await chat(admin, 'new')];
    const mine = await chat(member, 'new');
    await chat(admin, first);
    expect(await conversations(admin)).toMatchObject([
      { id: first, project_id: running, title: 'What is 7 + 5?', message_count: 4 },
      { id: second, message_count: 2 },
    ]);
    expect(await conversations(member)).toMatchObject([{ id: mine }]);
    expect(await conversations(developer)).toEqual([]);
  });

  // The last one: it deletes the project that runs.
  it('go with all that they hold, their running model too, when an admin deletes them', async () => {
    const id = running;
    await chat(admin, 'new');
    expect(await conversations(admin)).not.toEqual([]);
    await update(id, { version: 1, spec: {} });
    const children = () => service.pids.flatMap((pid) => descendants(pid));
    expect(children()).not.toEqual([]);
    for (const { token } of [member, developer]) {
      const refused = await service.call('DELETE', `${projects}/${id}`, { token });
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const headers = { 'If-Match': '"1"' };
    const stale = await service.call('DELETE', `${projects}/${id}`, { token: admin.token, headers });
    expect(stale).toMatchObject({ status: 409, body: { code: 'stale_version', details: [{ current: 2 }] } });
    const { status, body } = await service.call('DELETE', `${projects}/${id}`, { token: admin.token });
    expect({ status, body }).toEqual({ status: 200, body: { id, deleted: true } });
    expect(children()).toEqual([]);
    expect(await conversations(admin)).toEqual([]);
    for (const path of ['', '/runtime', '/versions', '/versions/1']) {
      expect((await service.get(`${projects}/${id}${path}`, admin.token)).status).toBe(404);
    }
    expect((await service.call('DELETE', `${projects}/${id}`, { token: admin.token })).status).toBe(404);
    for (const table of ['project_versions', 'models', 'runtime_connections']) {
      const left = `SELECT count(*)::int AS n FROM ${table} WHERE project_id = $1`;
      expect(await query(service.databaseUrl as string, left, [id])).toEqual([{ n: 0 }]);
    }
  });
});

describe('the review of a project', () => {
  const plan = (id: string, json: object = { version: 1 }) => service.post(`${projects}/${id}/plan`, admin.token, json);
  const codes = async (id: string, version = 1) =>
    (await plan(id, { version })).body.findings.map(
      (one: { level: string; code: string }) => `${one.level} ${one.code}`,
    );
  const statusOf = async (id: string) => {
    const { status, reviewed_version, version } = (await service.get(`${projects}/${id}`, admin.token)).body;
    return { status, reviewed_version, version };
  };

  it('leads from a starter to a project in which nothing is missing, step by step', async () => {
    const created = await service.post(projects, admin.token, { starter_id: 'capital-cities' });
    const { id, spec } = created.body;
    const first = await plan(id);
    expect(first).toMatchObject({ status: 200, body: { project_id: id, version: 1, ready: true } });
    expect(first.body.findings.map((one: { code: string }) => one.code)).toEqual(['dataset_missing', 'model_missing']);
    expect((await plan(id)).body).toEqual(first.body);
    expect(await statusOf(id)).toEqual({ status: 'reviewed', reviewed_version: 1, version: 1 });

    const datasets = `${projects}/${id}/datasets`;
    const dataset = (await service.post(datasets, admin.token, { starter_id: 'capital-cities' })).body;
    await service.put(`${projects}/${id}`, admin.token, { version: 1, spec: { ...spec, dataset_id: dataset.id } });
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: 1, version: 2 });
    expect(await codes(id, 2)).toEqual(['warning dataset_editable', 'warning model_missing']);
    await service.post(`${datasets}/${dataset.id}/freeze`, admin.token);
    expect(await codes(id, 2)).toEqual(['warning model_missing']);

    const models = `${projects}/${id}/models`;
    const model = { request_id: randomUUID(), spec: { runtime: 'onnx', path: 'tiny-chat' } };
    const draft = (await service.post(models, admin.token, model)).body;
    expect(await codes(id, 2)).toEqual(['warning model_unregistered']);
    await service.post(`${models}/${draft.id}/register`, admin.token, { version: 1 });
    expect(await codes(id, 2)).toEqual(['warning runtime_not_connected']);
    await service.put(`${projects}/${id}/runtime`, admin.token, { model_id: draft.id });
    expect(await codes(id, 2)).toEqual(['warning runtime_stopped']);
    await service.post(`${projects}/${id}/runtime/start`, admin.token);
    await untilState(service, admin.token, id, 'ready');
    const last = (await plan(id, { version: 2 })).body;
    expect(last).toMatchObject({
      ready: true,
      findings: [{ level: 'info', code: 'evaluation_missing' }],
      next_steps: [expect.stringContaining('POST /v1/jobs')],
    });

    await query(service.databaseUrl as string, 'UPDATE accounts SET email_verified_at = now()');
    const asked = { kind: 'evaluation', project_id: id, dataset_id: dataset.id };
    const { body: job } = await service.post('/v1/jobs', admin.token, asked);
    const { result } = await ended(service, admin.token, job.id);
    expect(result.accuracy).toBeGreaterThan(0.9);
    expect((await plan(id, { version: 2 })).body).toMatchObject({
      ready: true,
      findings: [
        { level: 'info', code: 'acceptance_met', message: expect.stringContaining(`of ${result.count} records`) },
      ],
      next_steps: [expect.stringContaining('/chat/completions')],
    });
    expect(await statusOf(id)).toEqual({ status: 'reviewed', reviewed_version: 2, version: 2 });
  });
});

describe('starters', () => {
  const shipped = (id: string): Starter =>
    JSON.parse(readFileSync(join(__dirname, '../../starters', `${id}.json`), 'utf8'));

  it.each<[string, (answer: string, expected: string) => boolean]>([
    ['capital-cities', (answer, expected) => answer.toLowerCase().includes(expected.toLowerCase())],
    ['exact-repetition', (answer, expected) => answer === expected],
  ])('fit what the shipped model has learned: %s', async (starterId, right) => {
    const { spec, dataset } = shipped(starterId);
    const project = await readyProject(service, admin.token);
    const system = spec.system_prompt ? [{ role: 'system', content: spec.system_prompt }] : [];
    let score = 0;
    for (const { input, expected } of dataset.records) {
      const messages = [...system, { role: 'user', content: input }];
      const json = { model: project, messages, temperature: 0 };
      const { body } = await service.post(completions(project), admin.token, json);
      if (right(body.choices[0].message.content, expected as string)) score += 1 / dataset.records.length;
    }
    expect(score).toBeGreaterThanOrEqual((spec.acceptance as { threshold: number }).threshold);
  });
});
