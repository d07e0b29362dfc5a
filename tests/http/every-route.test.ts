import { once } from 'node:events';
import { request } from 'node:http';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import { callerKinds } from '../../src/domain/accounts/caller.js';
import { bodyLimits } from '../../src/interfaces/http/body.js';
import type { Contract } from '../../src/interfaces/http/contract.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { openApiDocument } from '../../src/interfaces/http/openapi/document.js';
import { exampleOf, type Schema, type Schemas } from '../../src/interfaces/http/openapi/examples.js';
import { allRefusalsOf } from '../../src/interfaces/http/openapi/responses.js';
import { version } from '../../src/interfaces/version.js';
import { codeOf, note } from '../support/http-caller.js';
import { site } from '../support/site.js';
import { type Member, password } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const kinds: Record<string, string> = { model_id: 'mdl', dataset_id: 'dst' };
const unknownId = (name: string) => `${kinds[name] ?? 'prj'}_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11`;
const pathOf = (path: string) => path.replace(/\{(\w+)\*?\}/g, (_, name: string) => unknownId(name));
const masterKey = 'master-key-of-the-tests';

/** Tests the refusals that every contract implies. */
describe('every route', () => {
  let service: TestApp;
  let admin: Member;
  let member: Member;
  let regular: Member;

  beforeAll(async () => {
    const env = { SERVICE_MASTER_KEY: masterKey, ...site };
    ({ app: service, admin, member, stranger: regular } = await TestApp.withTeam({ env }));
    await service.verifyEmails();
  });
  afterAll(() => service.stop());

  const cases = contracts.map((contract) => ({ ...contract, method: contract.method.toUpperCase() }));
  const guarded = cases.filter(({ access }) => access !== 'public');
  const named = (some: typeof cases) => some.map((one) => [`${one.method} ${one.path}`, one] as const);
  /** Returns the first case of each kind. Checks that depend only on the kind run on these cases. */
  const firsts = (some: typeof cases, kindOf: (one: (typeof cases)[number]) => unknown) => {
    const byKind = new Map(some.toReversed().map((one) => [JSON.stringify(kindOf(one)), one]));
    return new Set(byKind.values());
  };

  const ofEachAccess = firsts(guarded, ({ access }) => access);
  it.each(named(guarded))('%s needs a valid credential', async (_, one) => {
    const { method, path } = one;
    const more = [`tns_${'a'.repeat(49)}`, 'nonsense', admin.token.slice(0, -1), `${admin.token}x`];
    for (const token of [undefined, ...(ofEachAccess.has(one) ? more : [])]) {
      const answer = await service.call(method, pathOf(path), { token });
      expect(statusAndCode(answer)).toBe('401 unauthenticated');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    if (!ofEachAccess.has(one)) return;
    const basic = { Authorization: `Basic ${Buffer.from(admin.token).toString('base64')}` };
    expect((await service.call(method, pathOf(path), { headers: basic })).status).toBe(401);
  });

  it.each(named(guarded))('%s accepts only credentials of its contract', async (_, { method, path, access }) => {
    const tokens = { session: admin.token, api_key: admin.apiKey, master: masterKey };
    const refused = callerKinds.filter((kind) => access !== 'public' && !access.takes.includes(kind));
    for (const token of refused.map((kind) => tokens[kind])) {
      expect(statusAndCode(await service.call(method, pathOf(path), { token }))).toBe('401 session_required');
    }
  });

  /** Returns a malformed body. A refusal without `malformed_json` proves that nobody read it. */
  const malformedBody = (method: string) => (method === 'GET' ? {} : { raw: '{' });
  const forEditors = guarded.filter(({ access }) => access !== 'public' && !access.roles.includes('member'));
  it.each(named(forEditors))('%s is not for members, whatever they send', async (_, { method, path }) => {
    const answer = await service.call(method, pathOf(path), { token: member.token, ...malformedBody(method) });
    expect(statusAndCode(answer)).toBe('403 forbidden');
  });

  const forOperators = guarded.filter(({ access }) => access !== 'public' && access.operator);
  it.each(named(forOperators))('%s is only for operators, whatever the role', async (_, { method, path }) => {
    for (const token of [regular.token, regular.apiKey]) {
      const answer = await service.call(method, pathOf(path), { token, ...malformedBody(method) });
      expect(statusAndCode(answer)).toBe('403 operator_only');
    }
  });

  const withIds = cases.filter(({ path }) => path.includes('{') && !path.includes('*}'));
  const ofEachMissing = firsts(withIds, ({ method, missing }) => [method, missing?.().code]);
  it.each(named(withIds))('%s answers 404 to an unknown id before it validates the body', async (_, one) => {
    const { method, path, body, missing } = one;
    const token = admin.token;
    const more = ['x', '%00', '%ff', '..%2f..', `prj_${"'".repeat(36)}`];
    for (const id of [unknownId('project_id'), ...(ofEachMissing.has(one) ? more : [])]) {
      const at = path.replace(/\{\w+\}/g, id);
      const code = missing && id !== '%ff' ? missing().code : 'not_found';
      const answer = await service.call(method, at, { token, ...(body && { json: { nonsense: true } }) });
      expect(`${id}: ${statusAndCode(answer)}`).toBe(`${id}: 404 ${code}`);
    }
  });

  const withBody = cases.filter(({ body, media }) => body && !media);
  const ofEachForm = firsts(withBody, ({ access, bodyLimit, bodyOptional, streamed, tensors, forms }) => [
    tensors,
    access === 'public',
    bodyLimit,
    bodyOptional,
    streamed,
    Object.keys(forms ?? {}),
  ]);
  it.each(named(withBody))('%s refuses a malformed body', async (_, one) => {
    const { method, path, bodyLimit, bodyOptional, streamed, tensors } = one;
    const at = pathOf(path);
    const token = admin.token;
    const limit = bodyLimits[bodyLimit ?? 'ordinary'];
    const refused = async (raw: string | Uint8Array, headers: Record<string, string> = {}) => {
      return statusAndCode(await service.call(method, at, { token, raw, headers }));
    };
    // Only the model server of an existing deployment reads a streamed body. So here, the length alone is sent.
    const malformed = streamed ? '404 not_found' : '400 malformed_json';
    expect(await refused('{')).toBe(malformed);
    expect(await refused('{}', { 'Content-Type': 'text/plain' })).toBe('415 unsupported_media_type');
    expect(await announced(method, at, limit + 1)).toBe('413 payload_too_large');
    if (!ofEachForm.has(one)) return;
    const empty = bodyOptional ? [] : [''];
    for (const raw of [...empty, 'nul', '{"a":1}x', "{'a':1}", '[1,]', Uint8Array.of(0x22, 0xff, 0x22)]) {
      expect(await refused(raw)).toBe(malformed);
    }
    const foreign: Record<string, string>[] = [
      { 'Content-Type': 'application/x-www-form-urlencoded' },
      { 'Content-Type': 'application/json; charset=latin1' },
      { 'Content-Encoding': tensors ? 'br' : 'gzip' },
    ];
    for (const headers of foreign) {
      expect(await refused('{}', headers)).toBe('415 unsupported_media_type');
    }
    const fitting = streamed ? announced(method, at, limit) : refused(`"${'a'.repeat(limit - 2)}"`);
    expect(await fitting).not.toContain('413');
  });

  /** Returns the answer to a request that sends only the length of its body. */
  async function announced(method: string, path: string, bytes: number): Promise<string> {
    const headers = {
      Authorization: `Bearer ${admin.token}`,
      'Content-Type': 'application/json',
      'Content-Length': bytes,
    };
    const sent = request(service.url + path, { method, headers }).on('error', () => undefined);
    sent.flushHeaders();
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    sent.destroy();
    const answer = { status: response.statusCode, body: JSON.parse(text) };
    note(method, path, answer);
    return statusAndCode(answer);
  }

  const publicWithBody = withBody.filter(({ access }) => access === 'public');
  const contentCases = named([...publicWithBody, ...cases.filter(({ id }) => id === 'createProject')]);
  it.each(contentCases)('%s refuses a body with invalid content', async (_, { method, path }) => {
    const token = admin.token;
    const deep = `${'['.repeat(33)}${']'.repeat(33)}`;
    const bodies = [
      'null',
      '1',
      '"text"',
      '[]',
      deep,
      `{"name":${deep}}`,
      '{"name":"a\\u0000b"}',
      '{"name":"\\ud800"}',
    ];
    for (const raw of [
      ...bodies,
      '{"a":{"b\\u0000":1}}',
      '{"name":1,"spec":1,"email":1,"password":1,"token":1}',
      '{"a":1e400}',
    ]) {
      const { status, body } = await service.call(method, pathOf(path), { token, raw });
      expect({ raw, status, code: body.code }).toEqual({ raw, status: 422, code: 'invalid_request' });
      expect(body.details.length).toBeGreaterThan(0);
    }
  });

  const paths = [...firsts(cases, ({ path }) => path)];
  it.each(paths.map(({ path }) => path))('%s refuses other methods, with a request id and no-store', async (path) => {
    const own = cases.filter((one) => one.path === path);
    const methods = own.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    const other = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !methods.includes(method));
    // For a path with one method, two other methods are enough.
    for (const method of own.length > 1 ? other : other.slice(-2)) {
      const answer = await service.call(method, pathOf(path), { headers: { 'X-Request-Id': 'mine-1' } });
      const { headers, body } = answer;
      expect(`${method}: ${statusAndCode(answer)}`).toBe(`${method}: 405 method_not_allowed`);
      expect(headers.get('allow')?.split(', ').sort()).toEqual(methods.sort());
      expect(headers.get('x-request-id')).toBe('mine-1');
      expect(headers.get('cache-control')).toBe('no-store');
      const own = { status: 'error', code: body.code, error: expect.any(String), request_id: 'mine-1' };
      const error = { message: expect.any(String), type: 'invalid_request_error', param: null, code: codeOf(answer) };
      const type = 'invalid_request_error';
      const details = { error_code: 'method_not_allowed' };
      const theirs = { type: 'error', error: { type, message: expect.any(String), details }, request_id: 'mine-1' };
      const vendor = path.startsWith('/openai/v1/messages') ? theirs : { error };
      expect(body).toEqual(path.startsWith('/openai/v1') ? vendor : own);
    }
  });

  it('answers an unknown route with the envelope, and replaces a malformed request id', async () => {
    for (const path of [
      '/v1/nothing',
      '/nothing',
      '/v1',
      '/v1/auth/me/',
      '/V1/auth/me',
      '/%ff',
      '/docs/../package.json',
    ]) {
      const { status, body, headers } = await service.call('GET', path, { headers: { 'X-Request-Id': 'not proper!' } });
      expect({ path, status, code: body.code }).toEqual({ path, status: 404, code: 'not_found' });
      expect(body.request_id).toMatch(/^req_/);
      expect(headers.get('x-request-id')).toBe(body.request_id);
    }
  });

  const login = async () =>
    (await service.post('/v1/auth/login', undefined, { email: 'mia@example.com', password })).body.token;

  it('accepts any media type on a POST that reads no body', async () => {
    const call = { token: await login(), headers: { 'Content-Type': 'text/plain' }, raw: 'whatever' };
    expect((await service.call('POST', '/v1/auth/logout', call)).status).toBe(200);
  });

  it('refuses an expired session', async () => {
    const token = await login();
    expect((await service.get('/v1/auth/me', token)).status).toBe(200);
    service.clock.advance(30 * 24 * 3_600_000);
    expect(statusAndCode(await service.get('/v1/auth/me', token))).toBe('401 unauthenticated');
  });
});

type ExampleRefusal =
  | { readonly code: string }
  | { readonly error: { readonly code: string } }
  | { readonly type: 'error'; readonly error: { readonly details: { readonly error_code: string } } };

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { $ref: string }>>;
}
interface Described {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, Media>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { in: string; name: string; description?: string; schema: Schema }[];
  readonly requestBody?: Described;
  readonly responses: Readonly<Record<string, Described>>;
}
interface Document {
  readonly info: { readonly version: string };
  readonly tags: readonly { name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly responses: Readonly<Record<string, Described>>;
    readonly examples: Readonly<Record<string, { value: ExampleRefusal }>>;
  };
}

const document = JSON.parse(JSON.stringify(openApiDocument(version))) as Document;
const { schemas, responses, examples } = document.components;
const ajv = new Ajv2020({ strict: false, validateFormats: false, inlineRefs: false });
ajv.addSchema(document, 'openapi.json');
const compiled = new Map<string, ValidateFunction>();
function checked(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"openapi.json#/components/');
  const known = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, known);
  return known;
}

const operationOf = ({ path, method }: Contract): Operation =>
  document.paths[path.replace('*}', '}')]?.[method] as Operation;
const resolved = (described: Described): Described =>
  described.$ref ? (responses[described.$ref.replace('#/components/responses/', '')] as Described) : described;
const named = contracts.map((contract) => [`${contract.method.toUpperCase()} ${contract.path}`, contract] as const);

const HOW =
  'has no example: give it one with `.meta({ example: … })` in its contract, or the whole object (CONTRIBUTING.md, "Recipe: add a route")';

/** Returns a message for each part of a request or an answer that lacks an example. */
function lacking(owner: string, { content = {} }: Described): string[] {
  return Object.values(content).flatMap(({ schema, example, examples: several }) =>
    example !== undefined || several
      ? []
      : exampleOf(schema, schemas).missing.map((part) => `${owner}: ${part ? `\`${part}\`` : 'it'} ${HOW}`),
  );
}

describe('the OpenAPI document', () => {
  it('has the version of the package, and describes each tag', () => {
    expect(document.info.version).toBe(require('../../package.json').version);
    const described = document.tags.map(({ name }) => name);
    expect(described).toEqual([...new Set(described)]);
    expect([...new Set(contracts.map(({ tag }) => tag))].filter((tag) => !described.includes(tag))).toEqual([]);
  });

  it('has names and types of which generators can make code', () => {
    const { schemas, responses } = document.components as unknown as Record<string, Record<string, object>>;
    for (const name of Object.keys({ ...schemas, ...responses })) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/);
    // The listed fields may be absent, so their types would not fit a type of all fields.
    const unlisted = (node: unknown): unknown[] => {
      if (typeof node !== 'object' || node === null) return [];
      const { properties, additionalProperties: others } = node as Record<string, unknown>;
      const own = properties && typeof others === 'object' && Object.keys(others ?? {}).length > 0 ? [node] : [];
      return [...own, ...Object.values(node).flatMap(unlisted)];
    };
    expect(unlisted(schemas)).toEqual([]);
  });

  it('gives each operation a unique id that a generated client can use as a name', () => {
    const ids = contracts.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) < index || !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
  });

  it.each(named)('%s has examples of its request and of its answers', (_, contract) => {
    const { requestBody = {}, responses: own, parameters = [] } = operationOf(contract);
    const missing = [
      ...lacking('the request', requestBody),
      ...Object.entries(own).flatMap(([status, answer]) => lacking(`the answer ${status}`, resolved(answer))),
      ...parameters
        .filter(({ in: place, schema }) => place === 'path' && schema.example === undefined)
        .map(({ name }) => `the parameter ${name}: it is to be described in openapi/document.ts`),
    ];
    expect(missing).toEqual([]);
  });

  it.each(named)('%s has examples that its schemas and its validation accept', (_, contract) => {
    const { requestBody = {}, responses: own } = operationOf(contract);
    for (const described of [requestBody, ...Object.values(own).map(resolved)]) {
      for (const { schema, example, examples: several = {} } of Object.values(described.content ?? {})) {
        const shown = Object.values(several).map(
          ({ $ref }) => examples[$ref.replace('#/components/examples/', '')]?.value,
        );
        for (const value of example === undefined ? shown : [example, ...shown]) {
          const valid = checked(schema);
          valid(value);
          expect({ value, errors: valid.errors ?? [] }).toEqual({ value, errors: [] });
        }
      }
    }
    const sent = requestBody.content?.['application/json']?.example;
    if (contract.body && sent !== undefined) expect(contract.body.safeParse(sent).error?.issues).toBeUndefined();
    const answered = own[contract.status]?.content?.[contract.answerMedia ?? 'application/json']?.example;
    if (answered !== undefined) expect(contract.answer.safeParse(answered).error?.issues).toBeUndefined();
  });

  it.each(named)('%s has an example of each of its refusals', (_, contract) => {
    const shown = Object.entries(operationOf(contract).responses).flatMap(([status, answer]) =>
      Object.keys(resolved(answer).content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
    );
    expect(shown.sort()).toEqual(
      allRefusalsOf(contract)
        .map(({ status, code }) => `${status} ${code}`)
        .sort(),
    );
  });

  it('has examples of the posts to webhooks', () => {
    const posted = Object.values(document.webhooks).flatMap((webhook) => Object.values(webhook));
    expect(posted.flatMap(({ requestBody = {} }) => lacking('the request', requestBody))).toEqual([]);
    const media = posted.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}));
    expect(media.length).toBeGreaterThan(0);
    for (const { schema, example } of media) expect(checked(schema)(example)).toBe(true);
  });

  it('names each example of a refusal by its code', () => {
    const codes = Object.values(examples).map(({ value }) => {
      if ('code' in value) return value.code;
      return 'type' in value ? `anthropic_${value.error.details.error_code}` : `openai_${value.error.code}`;
    });
    expect(codes).toEqual(Object.keys(examples));
  });
});
