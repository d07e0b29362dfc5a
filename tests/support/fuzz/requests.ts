import fc from 'fast-check';
import type { Endpoint, OpenApi, Parameter, Schema } from './document.js';
import { plain, Values } from './values.js';

/** Names who calls. `fitting` is an admin with a credential that the operation accepts. */
export const credentials = [
  'fitting',
  'none',
  'garbage',
  'admin',
  'developer',
  'member',
  'stranger',
  'api_key',
  'master',
] as const;
export type Credential = (typeof credentials)[number];

/** Describes a request. It may contain ids of the examples. `World` replaces them with ids of existing objects. */
export interface FuzzedRequest {
  readonly how: string;
  readonly credential: Credential;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  /** Says whether the document requires that this input is accepted or refused. `either`: the document does not say. */
  readonly wanted: 'taken' | 'refused' | 'either';
}

type Texts = Readonly<Record<string, string>>;

interface Parts {
  readonly params: Texts;
  readonly query: Texts;
  readonly headers: Texts;
  readonly body: Body | null;
}

interface Body {
  readonly type: string;
  readonly content: string | Uint8Array;
}

/** Changes parts of a valid request. */
interface Change extends Partial<Pick<FuzzedRequest, 'how' | 'wanted'>> {
  readonly parts?: Partial<Parts>;
  readonly search?: string;
}

/** Matches JSON that all operations except predictions refuse, as the preface of the document says. */
const unstorable = /\\u0000|\\ud800|\[{33}/;

const JSON_TYPE = 'application/json';
const IDS = /_id$|^token$/;

/** Generates requests from a document: valid ones, and ones that are broken in one place. */
export class Requests {
  private readonly values: Values;

  constructor(private readonly api: OpenApi) {
    this.values = new Values(api);
  }

  to(endpoint: Endpoint): fc.Arbitrary<FuzzedRequest> {
    const credential = fc.oneof(
      { weight: 3, arbitrary: fc.constant<Credential>('fitting') },
      { weight: 1, arbitrary: fc.constantFrom(...credentials) },
    );
    const request = this.valid(endpoint).chain((valid) => {
      const changes = [
        { weight: 3, arbitrary: fc.constant<Change>({}) },
        { weight: 3, arbitrary: this.body(endpoint) },
        { weight: 1, arbitrary: this.params(endpoint) },
        { weight: 1, arbitrary: this.query(endpoint) },
        { weight: 1, arbitrary: this.header(endpoint) },
        { weight: 1, arbitrary: oddForm(valid) },
      ];
      const possible = changes.filter((one): one is fc.WeightedArbitrary<Change> => one.arbitrary !== null);
      return fc.oneof(...possible).map((change) => requestOf(endpoint, valid, change));
    });
    return fc.tuple(request, credential).map(([rest, credential]) => ({ ...rest, credential }));
  }

  /** Returns requests at and above each limit of a text, and with each query parameter broken. They need no seed. */
  edges(endpoint: Endpoint): FuzzedRequest[] {
    const { parameters = [] } = endpoint;
    const [generated] = fc.sample(this.valid(endpoint), { seed: 1, numRuns: 1 }) as [Parts];
    const examples = parameters
      .filter((one) => one.in === 'path')
      .map(({ name, schema }) => [name, String(schema.example)]);
    const valid: Parts = { ...generated, params: Object.fromEntries(examples) };
    const schema = endpoint.requestBody?.content[JSON_TYPE]?.schema;
    const bodies = schema && valid.body?.type === JSON_TYPE ? this.values.aroundLimits(schema, valid.body.content) : [];
    const queries = parameters.flatMap(({ in: place, name, schema }): Change[] => {
      const text = ['0', '', '\0'].find((one) => !this.takesText(schema, one)) ?? '';
      return place === 'query'
        ? [{ how: `query: ${name}`, parts: { query: { [name]: text } }, wanted: 'refused' }]
        : [];
    });
    const changes = [...bodies.map((value) => this.bodyChange(endpoint, value)), ...queries];
    return changes.map((change) => ({ ...requestOf(endpoint, valid, change), credential: 'fitting' }));
  }

  private valid({ parameters = [], requestBody }: Endpoint): fc.Arbitrary<Parts> {
    const texts = (place: string) => {
      const own = parameters.filter((one) => one.in === place);
      const parts = own.map(({ name, schema }) => [name, this.values.valid(schema).map(String)] as const);
      const requiredKeys = own.filter(({ required }) => required).map(({ name }) => name);
      return fc.record(Object.fromEntries(parts), { requiredKeys }) as fc.Arbitrary<Texts>;
    };
    const bodies = Object.entries(requestBody?.content ?? {}).map(([type, { schema, example }]) =>
      type === JSON_TYPE
        ? this.values.valid(schema).map((value): Body => ({ type, content: JSON.stringify(value) }))
        : fc.oneof(fc.constant(String(example ?? 'x')), plain(0, 20)).map((content): Body => ({ type, content })),
    );
    const none = requestBody?.required ? [] : [fc.constant(null)];
    return fc.record({
      params: texts('path'),
      query: texts('query'),
      headers: texts('header'),
      body: fc.oneof(...bodies, ...none),
    });
  }

  private params({ parameters = [] }: Endpoint): fc.Arbitrary<Change> | null {
    const own = parameters.filter((one) => one.in === 'path');
    if (own.length === 0) return null;
    const texts = ['x', '0', '%ff', '%00', '%', '..%2f..', 'a%2Fb', "'%20OR%201=1", '%F0%9F%98%80', 'x'.repeat(3_000)];
    return fc.tuple(fc.constantFrom(...own), fc.constantFrom(...texts)).map(([{ name, schema }, text]) => ({
      how: `path: ${name}`,
      parts: { params: { [name]: text } },
      wanted: IDS.test(name) || !this.takesText(schema, decoded(text)) ? 'refused' : 'either',
    }));
  }

  private query({ parameters = [] }: Endpoint): fc.Arbitrary<Change> {
    const own = parameters.filter((one) => one.in === 'query');
    const encodings = ['%', '%ff', 'limit[]=%00', '=', '&&', 'a[b][c]=1', '%00=1', 'x=%ED%A0%80'];
    const odd = fc.constantFrom(...encodings).map((search): Change => ({ how: 'query', search, wanted: 'either' }));
    if (own.length === 0) return odd;
    const twice = fc
      .constantFrom(...own)
      .map(({ name }): Change => ({ how: `query: ${name} twice`, search: `${name}=1&${name}=2`, wanted: 'refused' }));
    const hostile = fc.constantFrom(...own).chain(({ name, schema }) =>
      this.values.hostileTo(schema).map((value): Change => {
        const text = typeof value === 'string' ? value.toWellFormed() : String(JSON.stringify(value));
        const wanted = this.takesText(schema, text) ? 'either' : 'refused';
        return { how: `query: ${name}`, parts: { query: { [name]: text } }, wanted };
      }),
    );
    return fc.oneof({ weight: 6, arbitrary: hostile }, twice, odd);
  }

  private header({ parameters = [] }: Endpoint): fc.Arbitrary<Change> | null {
    const own = parameters.filter((one) => one.in === 'header');
    if (own.length === 0) return null;
    const texts = ['', 'x', '"0"', '"1", "2"', '"99999999999"', 'W/"x"', '*', '\u00e9'];
    return fc.tuple(fc.constantFrom(...own), fc.constantFrom(...texts)).map(([{ name, schema }, text]) => ({
      how: `header: ${name}`,
      parts: { headers: { [name]: text } },
      wanted: text === '' || this.takesText(schema, text) ? 'either' : 'refused',
    }));
  }

  private body(endpoint: Endpoint): fc.Arbitrary<Change> | null {
    const schema = endpoint.requestBody?.content[JSON_TYPE]?.schema;
    return schema ? this.values.broken(schema).map((value) => this.bodyChange(endpoint, value)) : null;
  }

  private bodyChange({ operationId, requestBody }: Endpoint, value: unknown): Change {
    const content = JSON.stringify(value) ?? '';
    const schema = requestBody?.content[JSON_TYPE]?.schema ?? {};
    const isLeftOut = content === '' && !requestBody?.required;
    const isValid = content !== '' && this.api.isValid(schema, JSON.parse(content));
    const isRefusedAnyway = operationId !== 'predict' && unstorable.test(content);
    const wanted = isLeftOut ? 'either' : isValid && !isRefusedAnyway ? 'taken' : 'refused';
    return { how: 'body', parts: { body: { type: JSON_TYPE, content } }, wanted };
  }

  /** Tells whether a text is a valid value of a parameter. */
  private takesText(schema: Parameter['schema'], text: string | null): boolean {
    if (text === null || text.includes('\0')) return false;
    const isNumber = ['integer', 'number'].includes(String(schema.type)) && /^-?\d+(\.\d+)?$/.test(text);
    return this.api.isValid(schema as Schema, isNumber ? Number(text) : text);
  }
}

const raw = [
  '{',
  '',
  'nul',
  '{"a":1}x',
  "{'a':1}",
  '[1,]',
  '\ufeff{}',
  '{"a":1e400}',
  '{"a":1,"a":2}',
  '{"__proto__":{}}',
];
const notUtf8 = Uint8Array.of(0x22, 0xff, 0x22);

/** Generates forms of a request that no schema describes. */
function oddForm({ body }: Parts): fc.Arbitrary<Change> {
  const change = (how: string, wanted: FuzzedRequest['wanted'], parts: Partial<Parts>): Change => ({
    how,
    wanted,
    parts,
  });
  const odd = (headers: Texts, wanted: FuzzedRequest['wanted'] = 'either') =>
    change(`header: ${Object.entries(headers)}`.slice(0, 50), wanted, { headers });
  const always = [
    odd({ Host: 'elsewhere.example' }, 'refused'),
    odd({ 'Content-Length': 'many' }, 'refused'),
    odd({ 'Transfer-Encoding': 'gzip' }, 'refused'),
    odd({ 'X-Padding': 'x'.repeat(20_000) }, 'refused'),
    odd({ Expect: 'much' }),
    odd({ 'X-Request-Id': 'not proper!' }),
    odd({ Accept: 'image/png', 'If-None-Match': '*', Range: 'bytes=0-1' }),
    odd({ Authorization: 'Basic YTpi' }),
    odd({ Origin: 'https://elsewhere.example' }),
  ];
  if (!body) return fc.constantFrom(...always);
  const types = ['text/plain', 'application/json; charset=latin1', 'multipart/form-data; boundary=x', 'x', ''];
  const isJson = body.type === JSON_TYPE;
  return fc.constantFrom(
    ...always,
    ...types.map((type) => change(`type: ${type}`, 'either', { body: { ...body, type } })),
    odd({ 'Content-Encoding': 'gzip' }),
    ...[...raw, notUtf8].map((content) => change('raw body', 'either', { body: { ...body, content } })),
    ...(isJson ? [change('cut body', 'either', { body: { ...body, content: body.content.slice(0, -1) } })] : []),
  );
}

function requestOf({ path }: Endpoint, valid: Parts, change: Change): Omit<FuzzedRequest, 'credential'> {
  const encoded = Object.entries(valid.params).map(([name, text]) => [
    name,
    text.split('/').map(encodeURIComponent).join('/'),
  ]);
  const params: Texts = { ...Object.fromEntries(encoded), ...change.parts?.params };
  const query = new URLSearchParams({ ...valid.query, ...change.parts?.query }).toString();
  const search = [query, change.search ?? ''].filter(Boolean).join('&');
  const body = change.parts?.body ?? valid.body;
  return {
    how: change.how ?? 'valid',
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '') + (search && `?${search}`),
    headers: {
      ...valid.headers,
      ...(body && { 'Content-Type': body.type }),
      ...change.parts?.headers,
    },
    body: body?.content ?? null,
    wanted: change.wanted ?? (isJudgedByContent(valid) ? 'either' : 'taken'),
  };
}

/** Checks whether no schema describes the body: it is not JSON, a header splits it, or it names a setting. */
const isJudgedByContent = ({ headers, body }: Parts): boolean =>
  body !== null &&
  (body.type !== JSON_TYPE ||
    'Inference-Header-Content-Length' in headers ||
    String(body.content).includes('SERVICE_RUNTIME_KEY_'));

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
