import { randomUUID } from 'node:crypto';
import { query } from './database.js';
import type { Answer, HttpCaller } from './http-caller.js';
import { until } from './until.js';

export const password = 'correct horse battery';

export interface Member {
  readonly id: string;
  readonly token: string;
  readonly apiKey: string;
}

/** Registers an account. The first one of a service is the admin. */
export async function register(service: HttpCaller, name: string): Promise<Member> {
  const email = `${name.toLowerCase()}@example.com`;
  const { status, body } = await service.post('/v1/auth/register', undefined, { name, email, password });
  if (status !== 201) throw new Error(`register: ${status} ${JSON.stringify(body)}`);
  return { id: body.user.id, token: body.token, apiKey: body.api_key };
}

export async function createProject(service: HttpCaller, token: string, spec: object = {}): Promise<string> {
  const { body } = await service.post('/v1/projects', token, { name: 'Capitals', spec });
  return body.id;
}

/** Registers a model of the project, by default the shipped chat model. Returns its id. */
export async function registeredModel(
  service: HttpCaller,
  token: string,
  projectId: string,
  spec: object = { runtime: 'onnx', path: 'tiny-chat' },
): Promise<string> {
  const models = `/v1/projects/${projectId}/models`;
  const { body } = await service.post(models, token, { request_id: randomUUID(), spec });
  await service.post(`${models}/${body.id}/register`, token, { version: body.version });
  return body.id;
}

/** Creates a project with a ready runtime, by default of the shipped chat model. */
export async function readyProject(service: HttpCaller, token: string, spec?: object): Promise<string> {
  const projectId = await startedProject(service, token, spec);
  await untilState(service, token, projectId, 'ready');
  return projectId;
}

/** Creates a project with a started runtime. */
export async function startedProject(service: HttpCaller, token: string, spec?: object): Promise<string> {
  const projectId = await createProject(service, token);
  const model = await registeredModel(service, token, projectId, spec);
  const runtime = `/v1/projects/${projectId}/runtime`;
  await service.put(runtime, token, { model_id: model });
  await service.post(`${runtime}/start`, token);
  return projectId;
}

export async function untilState(service: HttpCaller, token: string, projectId: string, state: string): Promise<void> {
  let body: Answer['body'];
  const reached = async () => {
    body = (await service.get(`/v1/projects/${projectId}/runtime`, token)).body;
    return body.state === state;
  };
  await until(() => `the runtime is ${state}, not ${body.state} (${body.reason})`, reached, 50);
}

export const ask = (projectId: string, content: string, more: object = {}) => ({
  model: projectId,
  messages: [{ role: 'user', content }],
  ...more,
});

export const completions = (projectId: string) => `/v1/projects/${projectId}/chat/completions`;

/** Returns the id of the team that `moveToOwnTeam` creates for an account. */
export const ownTeam = (accountId: string): string => accountId.replace('usr_', 'tea_');

/** Makes an account the admin of its own new team, as a site login does. */
export async function moveToOwnTeam(databaseUrl: string, accountId: string): Promise<void> {
  const team = ownTeam(accountId);
  await query(databaseUrl, 'INSERT INTO teams (id, operator, created_at) VALUES ($1, false, now())', [team]);
  await query(databaseUrl, `UPDATE accounts SET team_id = $1, role = 'admin' WHERE id = $2`, [team, accountId]);
}

/** Creates a draft of a model. */
export async function draftModel(service: HttpCaller, token: string, projectId: string, spec: object = {}) {
  const json = { request_id: randomUUID(), spec };
  const { body } = await service.post(`/v1/projects/${projectId}/models`, token, json);
  return body as { readonly id: string; readonly version: number; readonly spec: object };
}
