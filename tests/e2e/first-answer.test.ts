import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialsIn } from '../support/credentials-in.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { ask, completions, password, untilState } from '../support/workspace.js';

/** The path of a newcomer, from nothing to an answered chat, on a service that was given no setting at all. */
describe('the first answer', () => {
  let service: Service;
  let token: string;
  let apiKey: string;
  let projectId: string;
  let modelId: string;

  beforeAll(async () => {
    service = await Service.start({ databaseUrl: null, env: { SERVICE_MASTER_KEY: 'master-key-of-the-tests' } });
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  it('registers the first account as admin', async () => {
    const before = Date.now() / 1000;
    const account = { name: ' Ada ', email: ' Ada@Example.com ', password, role: 'member', id: 'usr_1', team_id: 'x' };
    const { status, body } = await service.post('/v1/auth/register', undefined, account);
    expect(status).toBe(201);
    expect(body).toEqual({
      user: {
        id: expect.stringMatching(/^usr_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
        name: 'Ada',
        email: 'Ada@Example.com',
        role: 'admin',
        email_verified: false,
        created_at: expect.any(Number),
      },
      token: expect.stringMatching(/^tns_[0-9A-Za-z]{49}$/),
      api_key: expect.stringMatching(/^tnk_[0-9A-Za-z]{49}$/),
    });
    expect(body.user.created_at).toBeGreaterThan(before - 1);
    expect(body.user.created_at).toBeLessThan(Date.now() / 1000 + 1);
    ({ token, api_key: apiKey } = body);
  });

  it('sends the verification e-mail into the outbox folder and verifies once', async () => {
    const mail = await firstMail(join(service.dataDir, 'outbox'));
    expect(mail).toContain('To: Ada <Ada@example.com>'); // a domain has no letter case
    const link = new RegExp(`${service.url}/verify-email\\?token=(tnv_[0-9A-Za-z]{49})`).exec(mail);
    const verification = { token: link?.[1] };
    expect((await fetch(link?.[0] ?? '')).status).toBe(200);
    const verified = await service.post('/v1/auth/verify-email', undefined, verification);
    expect(verified).toMatchObject({ status: 200, body: { name: 'Ada', email_verified: true } });
    const again = await service.post('/v1/auth/verify-email', undefined, verification);
    expect(again).toMatchObject({ status: 410, body: { code: 'token_used' } });
  });

  it('logs in with another spelling of the e-mail, and mints a key beside the first', async () => {
    const { status, body } = await service.post('/v1/auth/login', undefined, { email: 'ADA@example.COM', password });
    expect(status).toBe(200);
    expect(body.user).toMatchObject({ role: 'admin', email_verified: true });
    expect(body.token).not.toBe(token);
    expect(body.api_key).not.toBe(apiKey);
    expect((await service.get('/v1/auth/me', token)).body).toEqual({ ...body.user, alert_emails: false });
    token = body.token;
  });

  it('creates a project, reads it and updates it by its version', async () => {
    const spec = { goal: 'Answer', own: { z: 1, a: [null, 1.5, 'ü'] } };
    const created = await service.post('/v1/projects', token, { name: 'Capitals', spec });
    expect(created.status).toBe(201);
    expect(created.headers.get('etag')).toBe('"1"');
    projectId = created.body.id;
    expect(created.body).toMatchObject({
      name: 'Capitals',
      status: 'draft',
      version: 1,
      spec,
      reviewed_version: null,
      models: [],
      runtime: { state: 'not_connected', model_id: null, reason: null },
    });
    expect((await service.get(`/v1/projects/${projectId}`, token)).body).toEqual(created.body);
    const update = await service.put(`/v1/projects/${projectId}`, token, { version: 1, spec: { goal: 'Better' } });
    expect(update).toMatchObject({ status: 200, body: { version: 2, name: 'Capitals', spec: { goal: 'Better' } } });
    expect(update.body.updated_at).toBeGreaterThanOrEqual(created.body.created_at);
  });

  it('drafts a model once for a request_id, and registers it', async () => {
    const models = `/v1/projects/${projectId}/models`;
    const spec = { runtime: 'onnx', path: 'tiny-chat' };
    const request_id = '6F1C0A52-3C1E-4A57-9D0E-0F8F2F1F7A11';
    const first = await service.post(models, token, { request_id, spec });
    expect(first).toMatchObject({ status: 201, body: { version: 1, state: 'draft', spec, registered_at: null } });
    const turned = { path: 'tiny-chat', runtime: 'onnx' };
    const again = await service.post(models, token, { request_id: `{${request_id.toLowerCase()}}`, spec: turned });
    expect(again).toMatchObject({ status: 200, body: first.body });
    modelId = first.body.id;
    expect((await service.get(`${models}/${modelId}`, token)).body).toEqual(first.body);
    const registered = await service.post(`${models}/${modelId}/register`, token, { expected_version: 1 });
    expect(registered).toMatchObject({ status: 200, body: { state: 'registered', version: 1 } });
    expect(registered.body.registered_at).toBeGreaterThan(0);
    expect((await service.get(`/v1/projects/${projectId}`, token)).body.models).toEqual([registered.body]);
  });

  it('connects the model and goes from loading to ready', async () => {
    const runtime = `/v1/projects/${projectId}/runtime`;
    const connected = { state: 'stopped', model_id: modelId, reason: null };
    expect(await service.put(runtime, token, { model_id: modelId })).toMatchObject({ status: 200, body: connected });
    expect(await service.post(`${runtime}/start`, token)).toMatchObject({ status: 200, body: { state: 'loading' } });
    await untilState(service, token, projectId, 'ready');
    expect((await service.get(`/v1/projects/${projectId}`, token)).body.runtime.state).toBe('ready');
    expect((await service.put(runtime, token, { model_id: modelId })).body.state).toBe('ready');
    expect((await service.post(`${runtime}/start`, token)).body.state).toBe('ready');
  });

  it('answers with a session and with an API key, the same at temperature 0', async () => {
    const question = ask(projectId, 'What is the capital of France?');
    const answer = await service.post(completions(projectId), token, question);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: projectId,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'The capital of France is Paris.' },
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 17,
        completion_tokens: 11,
        total_tokens: 28,
        prompt_tokens_details: { cached_tokens: expect.any(Number) },
      },
    });
    const byKey = await service.post(completions(projectId), apiKey, { ...question, temperature: 0, stream: false });
    expect(byKey.body.choices).toEqual(answer.body.choices);
  });

  it('cuts the answer at max_tokens', async () => {
    const question = ask(projectId, 'What is the capital of France?', { max_tokens: 3 });
    const { body } = await service.post(completions(projectId), apiKey, question);
    expect(body.choices[0].finish_reason).toBe('length');
    expect(body.usage.completion_tokens).toBe(3);
    expect('The capital of France is Paris.'.startsWith(body.choices[0].message.content)).toBe(true);
  });

  it('ends the session at logout, and only that one', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    expect(await service.post('/v1/auth/logout', body.token)).toMatchObject({ status: 200, body: { deleted: true } });
    expect(await service.get('/v1/auth/me', body.token)).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    });
    expect((await service.get('/v1/auth/me', token)).status).toBe(200);
  });

  it('has kept every secret out of the log', async () => {
    const log = await readFile(join(service.dataDir, 'tenon.log'), 'utf8');
    expect(log).toContain('"event":"mail delivered"');
    expect(credentialsIn(log)).toEqual([]);
    expect(log).not.toContain(password);
  });
});

async function firstMail(folder: string): Promise<string> {
  const names = async () => (await readdir(folder).catch(() => [])).filter((file) => file.endsWith('.eml'));
  await until('a mail has come', async () => (await names()).length > 0);
  return readFile(join(folder, (await names())[0] as string), 'utf8');
}
