import { bodies, operations, queries } from '../support/documented-input.js';
import { createProject, type Member, register, registeredModel } from '../support/workspace.js';
import { site } from './support/site.js';
import { TestApp } from './support/test-app.js';

const CALLS = 10;

/** Lists the rules that the document states in words, since no schema can tell them. */
const inWords = [
  'name: must have at least one visible character',
  'starter_id: must be the id of a starter: GET /v1/project-starters lists them',
  'messages: must end with a message whose role is user',
  'progress.done: must be at most the total, ',
  'error: must have at most 4096 bytes',
  'status: can no longer become queued',
  'threshold: must be a whole number from 1 to 10000: jobs in a row',
  'url: must name a host that can be resolved',
];

/** Calls every route with generated input. The HTTP caller compares every answer with the document. */
describe('input generated from the OpenAPI document', () => {
  let app: TestApp;
  let admin: Member;
  const ids: Record<string, string> = { alias: 'champion' };

  beforeAll(async () => {
    app = await TestApp.start({ env: { SERVICE_MAX_ACCOUNTS: '1000', ...site } });
    admin = await register(app, 'Ada');
    const other = await register(app, 'Mia');
    await app.verifyEmails();
    const made = async (path: string, json: unknown) => (await app.post(path, admin.token, json)).body.id;
    const project = await createProject(app, admin.token);
    const rule = { name: 'fails', rule_type: 'consecutive_failures', threshold: 1, job_kind: 'external' };
    ids.project_id = project;
    ids.model_id = await registeredModel(app, admin.token, project);
    ids.dataset_id = await made(`/v1/projects/${project}/datasets`, { records: [] });
    ids.rule_id = await made('/v1/alerts/rules', rule);
    const failing = await made('/v1/jobs', { kind: 'external', name: 'training' });
    await app.call('PATCH', `/v1/jobs/${failing}`, { token: admin.token, json: { status: 'failed' } });
    ids.alert_id = (await app.get('/v1/alerts', admin.token)).body.alerts[0].id;
    ids.job_id = await made('/v1/jobs', { kind: 'external', name: 'training' });
    ids.user_id = other.id;
  });
  afterAll(() => app.stop());

  const pathOf = (path: string) =>
    path.replace(/\{(\w{3})\w*\}/g, (name) => ids[name.slice(1, -1)] ?? 'cnv_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11');

  const taking = operations.filter(
    ({ path, body, operation }) =>
      path.startsWith('/v1/') && (body || operation.parameters?.some((one) => one.in === 'query')),
  );

  it.each(taking.map((one) => [`${one.method} ${one.path}`, one] as const))('%s', async (_, one) => {
    const { method, path, body: schema, operation } = one;
    const problems: string[] = [];
    const send = async (wanted: 'valid' | 'invalid', search: string, json?: unknown) => {
      const { status, body } = await app.call(method, pathOf(path) + search, { token: admin.token, json });
      const findings: string[] = (body.details ?? []).map(
        (one: Record<string, string>) => `${one.path}: ${one.message}`,
      );
      const inDocument = findings.every((finding) => inWords.some((rule) => finding.startsWith(rule)));
      const isTaken = status < 500 && (body.code !== 'invalid_request' || inDocument);
      const isRefused = status >= 400 && status < 500;
      if (wanted === 'valid' ? isTaken : isRefused) return;
      problems.push(`${wanted}: ${status} ${findings} ${search} ${JSON.stringify(json)?.slice(0, 300)}`);
    };
    for (const wanted of ['valid', 'invalid'] as const) {
      for (const json of schema ? bodies(schema, wanted, CALLS) : []) await send(wanted, '', json);
      for (const search of queries(operation, wanted, schema ? 0 : CALLS)) await send(wanted, `?${search}`);
    }
    expect(problems).toEqual([]);
  });

  const unknown = /conversation_id|results/; // 404 before 422
  const lists = taking.filter(
    ({ path, operation }) => !unknown.test(path) && operation.parameters?.some(({ name }) => name === 'limit'),
  );
  it.each(lists.map(({ path }) => path))('GET %s takes a limit from 1 to 1000', async (path) => {
    const statuses = (limits: string[]) =>
      Promise.all(limits.map(async (limit) => (await app.get(`${pathOf(path)}?limit=${limit}`, admin.token)).status));
    expect(await statuses(['0', '1001', '1.5', 'x', '', '1&limit=2'])).toEqual(Array(6).fill(422));
    expect(await statuses(['1', '1000'])).toEqual([200, 200]);
  });
});
