import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './client.js';
import { walkDatasets } from './datasets.js';
import { walkEvaluation } from './evaluation.js';
import { walkMonitoring } from './monitoring.js';
import { DemoService } from './service.js';
import { Deviation, expect, fields, step } from './steps.js';

export const QUESTION = 'What is the capital of France?';
const ANSWER = 'The capital of France is Paris.';
export const ADA = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'correct horse battery' };
const READY_WITHIN_MS = 30_000;

const id = (kind: string) => new RegExp(`^${kind}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);
const secret = (kind: string) => new RegExp(`^${kind}_[0-9A-Za-z]{49}$`);

/** Uses the API of the service and checks each step. Resolves with the model's answer. */
export async function walk(service: DemoService, signal: AbortSignal): Promise<string> {
  let client = new Client('', signal);
  await step('start the service', async () => {
    const url = await service.start(signal);
    client = new Client(url, signal);
    return `ready ${url}`;
  });
  const call: Client['call'] = (...details) => client.call(...details);
  const refused: Client['refused'] = (...details) => client.refused(...details);
  let [verification, session, key, project, model, answer] = ['', '', '', '', '', ''];

  await step('register the first account: the admin', async () => {
    const { status, body } = await call('POST /v1/auth/register', { body: ADA }, 201, {
      user: { id: id('usr'), name: ADA.name, email: ADA.email, role: 'admin', email_verified: false },
      token: secret('tns'),
      api_key: secret('tnk'),
    });
    return `${status} ${fields(body, 'user.role', 'user.email_verified', 'token', 'api_key')}`;
  });
  await step('read the verification e-mail', async () => {
    const mail = await service.firstMail(signal);
    verification = /^tnv_\w+\r?$/m.exec(mail)?.[0].trim() ?? '';
    expect(verification, secret('tnv'));
    return fields({ token: verification }, 'token');
  });
  await step('verify the e-mail address', async () => {
    const sent = { body: { token: verification } };
    const { status, body } = await call('POST /v1/auth/verify-email', sent, 200, { email_verified: true });
    return `${status} ${fields(body, 'email', 'email_verified')}`;
  });
  await step('log in', async () => {
    const { email, password } = ADA;
    const { status, body } = await call('POST /v1/auth/login', { body: { email, password } }, 200, {
      user: { email, role: 'admin' },
      token: secret('tns'),
      api_key: secret('tnk'),
    });
    [session, key] = [body.token, body.api_key];
    return `${status} ${fields(body, 'token', 'api_key')}`;
  });
  await step('ask who I am', async () => {
    const { status, body } = await call('GET /v1/auth/me', { as: session }, 200, { email: ADA.email, role: 'admin' });
    return `${status} ${fields(body, 'id', 'email', 'role')}`;
  });

  const [first, second] = [{ goal: 'Know capitals' }, { goal: 'Know every capital', task: 'chat' }];
  await step('create a project', async () => {
    const sent = { as: session, body: { name: 'Capitals', spec: first } };
    const { status, body } = await call('POST /v1/projects', sent, 201, {
      ...{ id: id('prj'), name: 'Capitals', status: 'draft', version: 1, spec: first },
      runtime: { state: 'not_connected', model_id: null, reason: null },
    });
    project = body.id;
    return `${status} ${fields(body, 'id', 'version', 'runtime.state')}`;
  });
  const update = { as: session, body: { version: 1, spec: second } };
  await step('update it with the version last read', async () => {
    const expected = { id: project, version: 2, spec: second };
    const { status, headers, body } = await call(`PUT /v1/projects/${project}`, update, 200, expected);
    expect(headers.get('etag'), '"2"');
    return `${status} ${fields(body, 'version', 'spec')}`;
  });
  await step('update it again with the same version, which is stale now', async () => {
    const { status, body } = await refused(`PUT /v1/projects/${project}`, update, 409, 'stale_version');
    expect(body.details, [{ path: 'version', current: 2 }]);
    return `${status} ${fields(body, 'code', 'details.0.current')}`;
  });

  await walkDatasets({ call, refused }, session, project);

  const models = `/v1/projects/${project}/models` as const;
  const draft = { as: session, body: { request_id: randomUUID(), spec: { runtime: 'onnx', path: 'tiny-chat' } } };
  await step('create a draft model', async () => {
    const expected = { id: id('mdl'), project_id: project, version: 1, state: 'draft', spec: draft.body.spec };
    const { status, body } = await call(`POST ${models}`, draft, 201, expected);
    model = body.id;
    return `${status} ${fields(body, 'id', 'state', 'version')}`;
  });
  await step('repeat that call: the same model', async () => {
    const { status, body } = await call(`POST ${models}`, draft, 200, { id: model, state: 'draft' });
    return `${status} ${fields(body, 'id', 'state')}`;
  });
  await step('register the model', async () => {
    const sent = { as: session, body: { version: 1 } };
    const expected = { id: model, state: 'registered', version: 1 };
    const { status, body } = await call(`POST ${models}/${model}/register`, sent, 200, expected);
    return `${status} ${fields(body, 'state', 'version', 'registered_at')}`;
  });

  const runtime = `/v1/projects/${project}/runtime` as const;
  await step('connect it as the runtime', async () => {
    const sent = { as: session, body: { model_id: model } };
    const { status, body } = await call(`PUT ${runtime}`, sent, 200, { state: 'stopped', model_id: model });
    return `${status} ${fields(body, 'state', 'model_id')}`;
  });
  await step('start the runtime', async () => {
    const { status, body } = await call(`POST ${runtime}/start`, { as: session }, 200, { state: 'loading' });
    return `${status} ${fields(body, 'state')}`;
  });
  await step('watch it until it is ready', async () => {
    const seen = ['loading'];
    for (const end = performance.now() + READY_WITHIN_MS; seen.at(-1) !== 'ready'; ) {
      if (performance.now() > end) throw new Deviation(`ready within ${READY_WITHIN_MS / 1000} s`, seen);
      await delay(500, undefined, { signal });
      const { body } = await call(`GET ${runtime}`, { as: session }, 200, { state: /^(loading|ready)$/ });
      if (body.state !== seen.at(-1)) seen.push(body.state);
    }
    return `200 ${seen.join(' → ')}`;
  });

  const chat = `POST /v1/projects/${project}/chat/completions` as const;
  const question = { model: project, messages: [{ role: 'user', content: QUESTION }] };
  const answered = {
    ...{ id: /^chatcmpl-\S+$/, object: 'chat.completion', model: project },
    choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
  };
  const telling = ['choices.0.message.content', 'choices.0.finish_reason', 'usage.total_tokens'];
  await step('chat with the session', async () => {
    const { status, body } = await call(chat, { as: session, body: question }, 200, answered);
    answer = body.choices[0].message.content;
    return `${status} ${fields(body, ...telling)}`;
  });
  await step('chat with the API key', async () => {
    const { status, body } = await call(chat, { as: key, body: question }, 200, answered);
    return `${status} ${fields(body, ...telling)}`;
  });
  await step('ask for a stream', async () => {
    const sent = { as: key, body: { ...question, stream: true } };
    const { status, body } = await refused(chat, sent, 422, 'streaming_unsupported');
    return `${status} ${fields(body, 'code')}`;
  });

  await walkEvaluation({ call }, { as: session, project, signal });
  await walkMonitoring({ call }, session);

  await step('log out', async () => {
    const { status, body } = await call('POST /v1/auth/logout', { as: session }, 200, { deleted: true });
    return `${status} ${fields(body, 'deleted')}`;
  });
  await step('use the ended session', async () => {
    const { status, headers, body } = await refused('GET /v1/auth/me', { as: session }, 401, 'unauthenticated');
    expect(headers.get('www-authenticate'), 'Bearer');
    return `${status} ${fields(body, 'code')}`;
  });
  return answer;
}
