import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type ResponseConfig,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import type { CallerKind } from '../../domain/access/caller.js';
import type { Contract } from './contract.js';
import { contracts } from './contracts.js';
import { exampleOf, type Schemas } from './openapi-examples.js';
import { parameterSchema } from './openapi-parameters.js';
import { carriedBy, refusalResponses } from './openapi-refusals.js';
import { alertFired } from './openapi-webhooks.js';

/** What each tag is about, in the order in which the reference shows them. */
export const tags: Readonly<Record<Contract['tag'], string>> = {
  'Team accounts': 'Registration, sessions, API keys, invites and roles.',
  'Project workspace': 'Projects, their datasets and their models, each with versions. Only a team’s own can be seen.',
  Runtime: 'The model that answers the chats of a project: connecting, starting and stopping it.',
  Inference: 'Chat completions, and the conversations that are kept of them.',
  Jobs: 'Work with an end: what runs elsewhere and reports itself, and each call of a model.',
  Monitoring:
    'For operators, over the whole deployment: alerts and their rules, model files and what serves them, the log.',
  Operations: 'For whoever runs the service.',
};

const credentials: Readonly<Record<CallerKind, string>> = {
  session: 'A session token (`tns_…`), as registration and login answer it; valid for 30 days.',
  api_key: 'An API key (`tnk_…`) of an account.',
  master: 'The master key of the deployment, `SERVICE_MASTER_KEY`: an admin operator without an account or a team.',
};

/** The OpenAPI 3.1 document, made from the contracts that route and validate. */
export function openApiDocument(version: string) {
  const registry = new OpenAPIRegistry();
  for (const [name, description] of Object.entries(credentials))
    registry.registerComponent('securitySchemes', name, { type: 'http', scheme: 'bearer', description });
  const refused = refusalResponses(registry);
  for (const contract of contracts) {
    registry.registerPath(operation(contract, refused(contract) as Record<string, ResponseConfig>));
  }
  registry.registerWebhook(alertFired);
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Tenon',
      version,
      description:
        'A self-hosted home for a team’s models. Bodies are JSON. Times are seconds since the epoch, with a fraction; ' +
        'identifiers begin with what they are of (`prj_…`) and sort by age.\n\n' +
        'Every refusal has the same envelope, `Error`; its `code` says which it is and never changes. What is not ' +
        'listed here is refused alike: 404 `not_found` for an unknown path, 405 `method_not_allowed` for another method ' +
        'of a known one. Each answer carries `X-Request-Id`: the one that was sent (1 to 64 letters, digits, `_`, `-`), ' +
        'or a new one.',
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  });
  addExamples(document as unknown as Document);
  return document;
}

function operation(contract: Contract, refused: Record<string, ResponseConfig>): RouteConfig {
  const { method, path, id, tag, summary, description, query, body, media, otherStatus, answer, answerMedia, status } =
    contract;
  const names = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => [name, parameterSchema(name)]);
  const params = z.object(Object.fromEntries(names));
  const taken = { ...(takesIfMatch(contract) && { 'If-Match': IfMatch }), ...contract.headers };
  const headers = { ...carriedBy(contract), ...ownHeaders(contract) };
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const content = media ? (schema: z.ZodType) => ({ [media]: { schema } }) : json;
  return {
    method,
    path: path.replace('*}', '}'),
    operationId: id,
    tags: [tag],
    summary,
    description: [description, takenBy(contract)].filter(Boolean).join('\n\n'),
    security: securityOf(contract),
    request: {
      ...(names.length > 0 && { params }),
      ...(query && { query: query as z.ZodObject }),
      ...(Object.keys(taken).length > 0 && { headers: z.object(taken) }),
      ...(body && { body: { required: !contract.bodyOptional, content: { ...content(body), ...texts(contract) } } }),
    },
    responses: {
      [status]: {
        description: 'Done',
        headers,
        content: answerMedia ? { [answerMedia]: { schema: answer } } : json(answer),
      },
      ...(otherStatus && {
        [otherStatus.status]: { description: otherStatus.when, headers, content: json(answer) },
      }),
      ...refused,
    },
  };
}

const texts = ({ forms = {} }: Contract) =>
  Object.fromEntries(
    Object.entries(forms).map(([type, { example }]) => [type, { schema: { type: 'string' as const }, example }]),
  );

const IfMatch = z
  .string()
  .optional()
  .meta({ description: 'The version last read, as its `ETag`: another one is refused as stale', example: '"1"' });

const takesIfMatch = ({ refusals: own }: Contract) => own.includes('stale_version');

const ETAG = { ETag: { schema: { type: 'string' }, description: 'The version, in quotes' } } as const;

const ownHeaders = ({ answerHeaders = {}, versioned }: Contract) => ({
  ...(versioned && ETAG),
  ...Object.fromEntries(
    Object.entries(answerHeaders).map(([name, description]) => [name, { schema: { type: 'string' }, description }]),
  ),
});

const securityOf = ({ access, uses = [] }: Contract) => {
  const kinds = access === 'public' ? uses : access.takes;
  const needless = access === 'public' && kinds.length > 0 ? [{}] : [];
  return [...needless, ...kinds.map((kind) => ({ [kind]: [] }))];
};

/** Which credentials and roles a route takes, in words. */
function takenBy({ access }: Contract): string {
  if (access === 'public') return 'Needs no credential.';
  if (access.takes.every((kind) => kind === 'master')) return 'Takes the master key.';
  const credential = access.takes.includes('api_key') ? 'a session or an API key' : 'a session';
  const role = access.roles.includes('member') ? 'any role' : access.roles.join(' or ');
  const whose = `${access.operator ? ' of the operator team' : ''}${access.verified ? ' with a verified e-mail' : ''}`;
  return `Takes ${credential} of ${role}${whose}${access.takes.includes('master') ? ', or the master key' : ''}.`;
}

interface Content {
  readonly content?: Record<string, { schema: object; example?: unknown; examples?: unknown }>;
}
type Operations = Readonly<Record<string, { requestBody?: Content; responses: Readonly<Record<string, Content>> }>>;
interface Document {
  readonly paths: Readonly<Record<string, Operations>>;
  readonly webhooks: Readonly<Record<string, Operations>>;
  readonly components: { readonly schemas: Schemas };
}

/** Where a schema has an example, or all its parts have, so has what it describes. */
function addExamples({ paths, webhooks, components }: Document): void {
  const operations = Object.values({ ...paths, ...webhooks }).flatMap((path) => Object.values(path));
  const described = operations.flatMap(({ requestBody, responses }) => [
    requestBody ?? {},
    ...Object.values(responses),
  ]);
  for (const media of described.flatMap(({ content = {} }) => Object.values(content))) {
    if (media.examples || media.example !== undefined) continue;
    const { value, missing } = exampleOf(media.schema, components.schemas);
    if (missing.length === 0) media.example = value;
  }
}
