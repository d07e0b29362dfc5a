import type { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { callerKinds } from '../../domain/access/caller.js';
import type { Contract } from './contract.js';
import { documentedHeaders } from './rate-limit/rate-limit-headers.js';
import { refusalExample } from './refusal-examples.js';
import { type RefusalCode, refusals } from './refusals.js';

const string = { type: 'string' } as const;

const object = { type: 'object' } as const;

const envelope = {
  ...object,
  required: ['status', 'code', 'error', 'request_id'],
  properties: {
    status: { const: 'error' },
    code: { ...string, description: 'Machine code; stable' },
    error: { ...string, description: 'What is wrong and what to do, for a person' },
    request_id: { ...string, description: 'Also in X-Request-Id, and in the log lines of this request' },
    details: {
      type: 'array' as const,
      description: 'Each single thing that is wrong; at most 100',
      items: {
        ...object,
        required: ['path', 'message'],
        properties: {
          path: { ...string, description: 'Where in what was sent, its parts joined by dots' },
          message: string,
          code: { ...string, description: 'Which finding it is, of a dataset that does not validate' },
          current: { type: 'integer' as const, description: 'The version as it is now' },
        },
      },
    },
  },
};

/** Every code that a route can refuse with: its own, and those that its access, path and body imply. */
export function refusalsOf({ path, access, body, media, missing, refusals: own }: Contract): RefusalCode[] {
  const implied: RefusalCode[] = isLimited({ path }) ? ['rate_limited'] : [];
  if (access !== 'public') {
    implied.push('unauthenticated');
    if (!callerKinds.every((kind) => access.takes.includes(kind))) implied.push('session_required');
    if (access.operator) implied.push('operator_only');
    if (!access.roles.includes('member')) implied.push('forbidden');
  }
  if (path.includes('_id}') && !missing) implied.push('not_found');
  if (path.includes('*}')) implied.push('invalid_request');
  if (body) implied.push('payload_too_large', 'unsupported_media_type', 'invalid_request');
  if (body) implied.push(media ? 'request_timeout' : 'malformed_json');
  return [...new Set([...implied, ...own])];
}

/** What any route can refuse with. */
export const everywhere: readonly RefusalCode[] = [
  'bad_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'storage_unavailable',
  'shutting_down',
];

const isLimited = ({ path }: Pick<Contract, 'path'>) => path.startsWith('/v1/');

const reference = (kind: 'headers' | 'examples' | 'responses', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

const commonHeaders = {
  'X-Request-Id': { schema: string, description: 'The id of the request, which the log has too' },
  ...documentedHeaders,
} as const;

/** What every answer of a route carries. */
export const carriedBy = (contract: Pick<Contract, 'path'>) => {
  const names = isLimited(contract) ? Object.keys(commonHeaders) : ['X-Request-Id'];
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
};

const adviceHeaders = {
  'WWW-Authenticate': { schema: { ...string, const: 'Bearer' }, description: 'The scheme of a credential' },
  'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait, where a new attempt makes sense' },
  'x-should-retry': {
    schema: { ...string, const: 'false' },
    description: 'Where a new attempt cannot help, for client libraries',
  },
} as const;

const advised: Readonly<Record<number, readonly (keyof typeof adviceHeaders)[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  502: ['x-should-retry'],
  503: ['Retry-After', 'x-should-retry'],
  504: ['x-should-retry'],
};

/**
 * The refusals of a route by status, as references to shared components: the same codes of one status are the same
 * response wherever they are, with an example for each.
 */
export function refusalResponses(registry: OpenAPIRegistry): (contract: Contract) => Record<string, { $ref: string }> {
  for (const [name, header] of Object.entries({ ...commonHeaders, ...adviceHeaders }))
    registry.registerComponent('headers', name, header);
  registry.registerComponent('schemas', 'Error', envelope);
  const [registered, responses] = [new Set<string>(), new Set<string>()];

  const example = (code: RefusalCode) => {
    if (!registered.has(code)) {
      registered.add(code);
      registry.registerComponent('examples', code, { summary: refusals[code].when, value: refusalExample(code) });
    }
    return reference('examples', code);
  };

  const response = (contract: Contract, status: number, codes: readonly RefusalCode[]) => {
    const name = [...codes, ...(isLimited(contract) ? [] : ['unlimited'])].join('.');
    if (!responses.has(name)) {
      responses.add(name);
      const own = (advised[status] ?? []).map((header) => [header, reference('headers', header)]);
      registry.registerComponent('responses', name, {
        description: codes.map((code) => `\`${code}\`: ${refusals[code].when}`).join('\n\n'),
        headers: { ...carriedBy(contract), ...Object.fromEntries(own) },
        content: {
          'application/json': {
            schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: [...codes] } } }] },
            examples: Object.fromEntries(codes.map((code) => [code, example(code)])),
          },
        },
      });
    }
    return reference('responses', name);
  };
  return (contract) => {
    const codes = [...new Set([...refusalsOf(contract), ...everywhere])];
    const statuses = [...new Set(codes.map((code) => refusals[code].status))].sort((a, b) => a - b);
    return Object.fromEntries(
      statuses.map((status) => [
        status,
        response(
          contract,
          status,
          codes.filter((code) => refusals[code].status === status),
        ),
      ]),
    );
  };
}
