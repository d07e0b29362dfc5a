import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { callerKinds } from '../../domain/access/caller.js';
import type { Contract } from './contract.js';
import { contracts } from './contracts.js';
import { documentedHeaders } from './rate-limit/rate-limit-headers.js';
import { type RefusalCode, refusals } from './refusals.js';

const ErrorEnvelope = z
  .object({
    status: z.literal('error'),
    code: z.string().meta({ description: 'Machine code; stable' }),
    error: z.string().meta({ description: 'What is wrong and what to do, for a person' }),
    request_id: z.string().meta({ description: 'Also in X-Request-Id, and in the log lines of this request' }),
    details: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          code: z.string().optional().meta({ description: 'Which finding it is, of a dataset that does not validate' }),
          current: z.int().optional().meta({ description: 'The version as it is now' }),
        }),
      )
      .optional()
      .meta({ description: 'Each single thing that is wrong' }),
  })
  .meta({ id: 'Error' });

/** The OpenAPI 3.1 document, made from the contracts that route and validate. */
export function openApiDocument(version: string) {
  const registry = new OpenAPIRegistry();
  registry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A session token (`tns_…`) or, where the route says so, an API key (`tnk_…`) or the master key. The master key also ' +
      'registers the first account of a deployment whose registration is by invite.',
  });
  for (const [name, header] of Object.entries(documentedHeaders)) registry.registerComponent('headers', name, header);
  for (const contract of contracts) registry.registerPath(operation(contract));
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Tenon',
      version,
      description:
        'A self-hosted home for a team’s models. Every refusal has the same envelope; `code` says which it is.',
    },
    servers: [{ url: '/' }],
    tags: [...new Set(contracts.map(({ tag }) => tag))].map((name) => ({ name })),
  });
}

function operation(contract: Contract): RouteConfig {
  const { method, path, id, tag, summary, description, access, query, body, media, otherStatus, answer, status } =
    contract;
  const names = [...path.matchAll(/\{(\w+)(\*?)\}/g)].map(([, name = '', rest]) => [name, rest ? Rest : z.string()]);
  const params = z.object(Object.fromEntries(names));
  const taken = { ...(takesIfMatch(contract) && { 'If-Match': z.string().optional() }), ...contract.headers };
  const carried = { ...(isLimited(contract) && limitHeaders), ...ownHeaders(contract) };
  const headers = Object.keys(carried).length > 0 && { headers: carried };
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const content = media ? (schema: z.ZodType) => ({ [media]: { schema } }) : json;
  return {
    method,
    path: path.replace('*}', '}'),
    operationId: id,
    tags: [tag],
    summary,
    description: [description, takenBy(contract)].filter(Boolean).join('\n\n'),
    security: access === 'public' ? [] : [{ bearer: [] }],
    request: {
      ...(names.length > 0 && { params }),
      ...(query && { query: query as z.ZodObject }),
      ...(Object.keys(taken).length > 0 && { headers: z.object(taken) }),
      ...(body && { body: { required: !contract.bodyOptional, content: { ...content(body), ...texts(contract) } } }),
    },
    responses: {
      [status]: { description: 'Done', ...headers, content: json(answer) },
      ...(otherStatus && {
        [otherStatus.status]: { description: otherStatus.when, ...headers, content: json(answer) },
      }),
      ...refusalResponses(contract),
    },
  };
}

const texts = ({ forms = {} }: Contract) =>
  Object.fromEntries(
    Object.entries(forms).map(([type, { example }]) => [type, { schema: { type: 'string' as const }, example }]),
  );

const Rest = z.string().meta({ description: 'May have slashes, which are sent as they are' });

const isLimited = ({ path }: Pick<Contract, 'path'>) => path.startsWith('/v1/');

const limitHeaders = Object.fromEntries(
  Object.keys(documentedHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

const ownHeaders = ({ answerHeaders = {} }: Contract) =>
  Object.fromEntries(
    Object.entries(answerHeaders).map(([name, description]) => [name, { schema: { type: 'string' }, description }]),
  );

/** Which credentials and roles a route takes, in words. */
function takenBy({ access }: Contract): string {
  if (access === 'public') return 'Takes no credential.';
  const credential = access.takes.includes('api_key') ? 'a session or an API key' : 'a session';
  const role = access.roles.includes('member') ? 'any role' : access.roles.join(' or ');
  const whose = `${access.operator ? ' of the operator team' : ''}${access.verified ? ' with a verified e-mail' : ''}`;
  return `Takes ${credential} of ${role}${whose}${access.takes.includes('master') ? ', or the master key' : ''}.`;
}

const takesIfMatch = ({ refusals: own }: Contract) => own.includes('stale_version');

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
export const everywhere: readonly RefusalCode[] = ['internal_error', 'storage_unavailable', 'shutting_down'];

const RETRY_AFTER = { schema: { type: 'integer' }, description: 'Seconds to wait' } as const;

function refusalResponses(contract: Contract) {
  const codes = [...new Set([...refusalsOf(contract), ...everywhere])];
  const statuses = [...new Set(codes.map((code) => refusals[code].status))].sort((a, b) => a - b);
  const responses = statuses.map((status) => {
    const of = codes.filter((code) => refusals[code].status === status);
    const description = of.map((code) => `\`${code}\`: ${refusals[code].when}`).join('\n\n');
    const headers = status === 429 && { headers: { ...limitHeaders, 'Retry-After': RETRY_AFTER } };
    return [status, { description, ...headers, content: { 'application/json': { schema: ErrorEnvelope } } }];
  });
  return Object.fromEntries(responses);
}
