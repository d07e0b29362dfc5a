import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { callerKinds } from '../../../domain/accounts/caller.js';
import type { Permission } from '../../../domain/accounts/permission.js';
import { isOpenAi } from '../chat/openai/openai-errors.js';
import type { Contract } from '../contract.js';
import { contracts } from '../controllers.js';
import { vendorStatus } from '../error-form.js';
import { formOf } from '../error-forms.js';
import { documentedHeaders } from '../middleware/rate-limit.js';
import { type Refusal, type RefusalCode, refusalOf, refusals } from '../refusals.js';
import { refusalExample, refusalExampleIn } from './examples.js';

/** Lists every refusal of a route: its own, and those that its access, path, query and body imply. */
export function refusalsOf(contract: Contract): Refusal[] {
  const { path, access, query, body, media, streamed, missing, refusals: own } = contract;
  const implied: RefusalCode[] = isLimited({ path }) ? ['rate_limited'] : [];
  if (access !== 'public') {
    implied.push('unauthenticated');
    if (!callerKinds.every((kind) => access.takes.includes(kind))) implied.push('session_required');
    if (needsPermission(access)) implied.push('key_restricted');
    if (access.operator) implied.push('operator_only');
    if (!access.roles.includes('member')) implied.push('forbidden');
  }
  if (path.includes('_id}') && !missing) implied.push('not_found');
  if (query) implied.push('invalid_request');
  if (body) implied.push('payload_too_large', 'unsupported_media_type', 'invalid_request');
  if (body) implied.push(media ? 'request_timeout' : 'malformed_json');
  if (body && !media && !streamed) implied.push('busy');
  return [...new Set([...implied, ...own])].map(refusalOf).map((one) => inFormOf(path, one));
}

/** Any other route takes no API key, or each of them. */
const needsPermission = ({ key }: Permission) => key !== 'none' && key !== 'any';

const inFormOf = (path: string, { code, status }: Refusal): Refusal => ({
  code,
  status: formOf(path) ? vendorStatus(status) : status,
});

/** Lists the refusals that every route has. */
export const everywhere: readonly RefusalCode[] = [
  'bad_request',
  'misdirected_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'storage_unavailable',
  'instance_outdated',
  'shutting_down',
];

/** Lists all refusals of a route, each code once. */
export function allRefusalsOf(contract: Contract): Refusal[] {
  const own = refusalsOf(contract);
  const known = own.map(({ code }) => code);
  const others = everywhere.filter((code) => !known.includes(code)).map(refusalOf);
  return [...own, ...others];
}

const isLimited = ({ path }: Pick<Contract, 'path'>) => path.startsWith('/v1/') || isOpenAi(path);

const string = { type: 'string' } as const;
const object = { type: 'object' } as const;

const envelope = {
  ...object,
  required: ['status', 'code', 'error', 'request_id'],
  properties: {
    status: { const: 'error' },
    code: { ...string, description: 'The machine code. Codes never change.' },
    error: { ...string, description: 'Tells a person what is wrong and what to do.' },
    request_id: { ...string, description: 'The same as in `X-Request-Id` and in the log lines of this request.' },
    details: {
      type: 'array' as const,
      description: 'Lists each thing that is wrong, at most 100.',
      items: {
        ...object,
        required: ['path', 'message'],
        properties: {
          path: { ...string, description: 'The place in the request, its parts joined by dots.' },
          message: string,
          code: { ...string, description: 'The kind of finding, for a dataset that does not validate.' },
          current: { type: 'integer' as const, description: 'The current version.' },
          budget_id: { type: 'string' as const, description: 'The budget without room for the call.' },
          scope: { type: 'string' as const, description: 'The scope of the budget.' },
        },
      },
    },
  },
};

/** Returns the schema of a refusal with one of these codes. */
function schemaOf(contract: Contract, codes: string[]) {
  const own = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] };
  return formOf(contract.path)?.schema(codes) ?? own;
}

/** Returns the prefix of a component's name. Each form of refusals has components of its own. */
const prefixOf = ({ path }: Pick<Contract, 'path'>) => formOf(path)?.prefix ?? '';

/** Returns words as one identifier, because generators make the names of types of the names of components. */
const identifierOf = (words: readonly string[]) =>
  words
    .flatMap((word) => word.split('_'))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

const reference = (kind: 'headers' | 'examples' | 'responses', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});
const references = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, reference('headers', name)]));

const commonHeaders = {
  'X-Request-Id': { required: true, schema: string, description: 'The id of the request, as the log has it.' },
  ...documentedHeaders,
} as const;

/** Returns the headers that every answer of a route has. */
export const carriedBy = (contract: Pick<Contract, 'path'>) =>
  references(isLimited(contract) ? Object.keys(commonHeaders) : ['X-Request-Id']);

const adviceHeaders = {
  'WWW-Authenticate': {
    required: true,
    schema: { ...string, const: 'Bearer' },
    description: 'The scheme of the credential.',
  },
  'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait, where a retry can help.' },
  'x-should-retry': {
    schema: { ...string, const: 'false' },
    description: 'Tells client libraries that a retry cannot help.',
  },
} as const;

const advice: Readonly<Record<number, readonly (keyof typeof adviceHeaders)[]>> = {
  401: ['WWW-Authenticate'],
  409: ['x-should-retry'],
  429: ['Retry-After'],
  502: ['x-should-retry'],
  503: ['Retry-After', 'x-should-retry'],
  504: ['x-should-retry'],
};

/**
 * Registers the responses of refusals as shared components and returns a function that refers to them by status.
 * The same codes under one status are the same component on every route.
 */
export function refusalResponses(registry: OpenAPIRegistry): (contract: Contract) => Record<string, { $ref: string }> {
  for (const [name, header] of Object.entries({ ...commonHeaders, ...adviceHeaders }))
    registry.registerComponent('headers', name, header);
  registry.registerComponent('schemas', 'Error', envelope);
  const examples = contracts.flatMap((contract) =>
    allRefusalsOf(contract).map(({ code, status }) => {
      const form = formOf(contract.path);
      const value = form ? refusalExampleIn(form, code, status) : refusalExample(code);
      return [prefixOf(contract) + code, { summary: refusals[code].when, value }] as const;
    }),
  );
  for (const [name, example] of new Map(examples)) registry.registerComponent('examples', name, example);
  const registered = new Set<string>();

  const response = (contract: Contract, status: number, sameStatus: readonly Refusal[]) => {
    const codes = sameStatus.map(({ code }) => code);
    const prefix = prefixOf(contract);
    const name = identifierOf([
      prefix,
      'refused',
      String(status),
      ...codes,
      ...(isLimited(contract) ? [] : ['unlimited']),
    ]);
    if (!registered.has(name)) {
      registered.add(name);
      registry.registerComponent('responses', name, {
        description: codes.map((code) => `\`${code}\`: ${refusals[code].when}`).join('\n\n'),
        headers: { ...carriedBy(contract), ...references(advice[status] ?? []) },
        content: {
          'application/json': {
            schema: schemaOf(contract, codes),
            examples: Object.fromEntries(codes.map((code) => [code, reference('examples', prefix + code)])),
          },
        },
      });
    }
    return reference('responses', name);
  };

  return (contract) => {
    const all = allRefusalsOf(contract);
    const statuses = [...new Set(all.map(({ status }) => status))].sort((a, b) => a - b);
    const under = (wanted: number) => all.filter(({ status }) => status === wanted);
    return Object.fromEntries(statuses.map((status) => [status, response(contract, status, under(status))]));
  };
}
