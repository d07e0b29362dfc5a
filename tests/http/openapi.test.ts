import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import type { Contract } from '../../src/interfaces/http/contract.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { openApiDocument } from '../../src/interfaces/http/openapi/document.js';
import { exampleOf, type Schema, type Schemas } from '../../src/interfaces/http/openapi/examples.js';
import { allRefusalsOf } from '../../src/interfaces/http/openapi/responses.js';
import { version } from '../../src/interfaces/version.js';

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
    readonly examples: Readonly<Record<string, { value: { code: string } | { error: { code: string } } }>>;
  };
}

const document = JSON.parse(JSON.stringify(openApiDocument(version))) as Document;
const { schemas, responses, examples } = document.components;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
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
    const codes = Object.values(examples).map(({ value }) =>
      'code' in value ? value.code : `openai_${value.error.code}`,
    );
    expect(codes).toEqual(Object.keys(examples));
  });
});
