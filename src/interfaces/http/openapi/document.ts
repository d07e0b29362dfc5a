import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type ResponseConfig,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { MAX_VALUES } from '../../../application/shared/memory-budget.js';
import { type CallerKind, callerKinds } from '../../../domain/accounts/caller.js';
import type { Permission } from '../../../domain/accounts/permission.js';
import { modelFileLimits } from '../../../domain/deployments/model-file.js';
import { ModelAlias } from '../../../domain/workspace/model-alias.js';
import { AlertFired } from '../alerts/webhooks.contract.js';
import { MAX_DEPTH } from '../body.js';
import type { Contract } from '../contract.js';
import { contracts } from '../controllers.js';
import { GREATEST_VERSION, id, jsonComponent, secret, textLike } from '../schemas.js';
import { addExamples, type Document } from './examples.js';
import { carriedBy, refusalResponses } from './responses.js';

/** Describes each tag, in the order of the reference. */
const tags: Readonly<Record<Contract['tag'], string>> = {
  'Team accounts': 'Registration, sessions, API keys, invites and roles.',
  Calls: 'The calls that a project keeps with their content, and the feedback on them.',
  'Project workspace': 'Projects, their datasets and their models, each with versions. A team sees only its own.',
  Runtime: 'The model that answers the chats of a project: connect it, start it, stop it.',
  Inference: 'Chat completions, and conversations that store them.',
  OpenAI:
    'The same chats for programs that expect OpenAI’s API. Refusals have the form `OpenAiError`, and status 400 in ' +
    'place of 422.',
  Anthropic:
    'The same chats for programs that expect Anthropic’s Messages API. Refusals have the form `AnthropicError`, and ' +
    'status 400 in place of 422.',
  Budgets: 'Limits of what calls may spend. They hold on every instance, also when many calls come at once.',
  Jobs: 'Work with an end: evaluations, calls of a model, and work that runs elsewhere and reports here.',
  Monitoring: 'For operators, over the whole deployment: alerts and their rules, model files, deployments, the log.',
  Operations: 'For the people who run the service.',
};

const credentials: Readonly<Record<CallerKind, string>> = {
  session: 'A session token (`tns_…`), of a registration or a login, valid for 30 days.',
  api_key: 'An API key (`tnk_…`) of an account.',
  master:
    'The master key of the service, `SERVICE_MASTER_KEY`: an operator with the role admin, without an account or a team.',
};

/** Builds the OpenAPI 3.1 document from the contracts. */
export function openApiDocument(version: string) {
  const registry = new OpenAPIRegistry();
  for (const [name, description] of Object.entries(credentials))
    registry.registerComponent('securitySchemes', name, { type: 'http', scheme: 'bearer', description });
  registry.registerComponent('schemas', 'Json', jsonComponent);
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
        'A self-hosted home for a team’s models. Bodies are JSON. Times are seconds since the epoch, with a fraction. ' +
        'Identifiers begin with their kind (`prj_…`) and sort by age. Lengths are counted in Unicode code points.\n\n' +
        'Every refusal has the same envelope, `Error`, and codes never change. Below `/openai/v1` the envelope is ' +
        '`OpenAiError`, below `/openai/v1/messages` it is `AnthropicError`, and 422 becomes 400. An unknown path is refused with 404 `not_found`, an unknown method of a known ' +
        'path with 405 `method_not_allowed`. Each answer has a header `X-Request-Id`: the id that the caller sent (1 to 64 ' +
        'letters, digits, `_`, `-`), or a new one.\n\n' +
        'Unknown query parameters are ignored. Unknown fields of a body are ignored, too, except where its schema has ' +
        '`additionalProperties: false`: there they are refused with 422 `invalid_request`. Text with NUL or a lone ' +
        `surrogate is refused, and JSON of more than ${MAX_DEPTH} levels or ${MAX_VALUES} values, too. These rules do not ` +
        'hold for the bodies of predictions, which are not stored.',
      contact: { name: 'The Tenon authors' },
      license: { name: 'No licence has been chosen yet', identifier: 'LicenseRef-none' },
    },
    servers: [{ url: '/', description: 'This service.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
  });
  addExamples(document as unknown as Document);
  return document;
}

function operation(contract: Contract, refused: Record<string, ResponseConfig>): RouteConfig {
  const {
    method,
    path,
    id,
    tag,
    summary,
    description,
    query,
    body: checkedBody,
    documentedBody: body = checkedBody,
    media,
    otherStatus,
    answer,
    answerMedia,
    answerFiles = answerMedia && [answerMedia],
    answerEvents,
    tensors,
    status,
  } = contract;
  const names = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = '']) => [name, parameterSchema(contract, name)]);
  const params = z.object(Object.fromEntries(names));
  const requestHeaders = { ...(takesIfMatch(contract) && { 'If-Match': IfMatch }), ...contract.headers };
  const headers = { ...carriedBy(contract), ...ownHeaders(contract) };
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } });
  const octets = tensors && { 'application/octet-stream': { schema: TensorsText } };
  const content = media ? (schema: z.ZodType) => ({ [media]: { schema } }) : json;
  return {
    method,
    path: path.replace('*}', '}'),
    operationId: id,
    tags: [tag],
    summary,
    description: [description, accessOf(contract)].filter(Boolean).join('\n\n'),
    security: securityOf(contract),
    request: {
      ...(names.length > 0 && { params }),
      ...(query && { query: query as z.ZodObject }),
      ...(Object.keys(requestHeaders).length > 0 && { headers: z.object(requestHeaders) }),
      ...(body && {
        body: {
          required: !contract.bodyOptional || requiresField(body),
          content: { ...content(body), ...texts(contract), ...octets },
        },
      }),
    },
    responses: {
      [status]: {
        description: 'Done.',
        headers,
        content: {
          ...(answerFiles ? Object.fromEntries(answerFiles.map((type) => [type, { schema: answer }])) : json(answer)),
          ...(answerEvents && { 'text/event-stream': { schema: answerEvents } }),
          ...octets,
        },
      },
      ...(otherStatus && {
        [otherStatus.status]: { description: otherStatus.when, headers, content: json(answer) },
      }),
      ...refused,
    },
  };
}

/** Checks whether the body has a required field. Callers may then leave out the body only if they send `If-Match`. */
const requiresField = (body: z.ZodType) => {
  const { required, anyOf } = body.meta() ?? {};
  return required !== undefined || anyOf !== undefined;
};

const texts = ({ forms = {} }: Contract) =>
  Object.fromEntries(
    Object.entries(forms).map(([type, { example }]) => [type, { schema: { type: 'string' as const }, example }]),
  );

const TensorsText = {
  type: 'string',
  format: 'binary',
  description: 'JSON with the length in `Inference-Header-Content-Length`, followed by the bytes of the tensors.',
  example: '(JSON and the bytes of tensors)',
} as const;

const IfMatch = z
  .string()
  .regex(/^(\*|(W\/)?"[1-9]\d{0,9}")$/)
  .optional()
  .meta({
    description: 'The version that you last read, as its `ETag`. Any other version is refused as stale.',
    example: '"1"',
  });

const takesIfMatch = ({ refusals: own }: Contract) => own.includes('stale_version');

const ETAG = { ETag: { required: true, schema: { type: 'string' }, description: 'The version, in quotes.' } } as const;

const ownHeaders = ({ answerHeaders = {}, versioned }: Contract) => ({
  ...(versioned && ETAG),
  ...Object.fromEntries(
    Object.entries(answerHeaders).map(([name, description]) => [name, { schema: { type: 'string' }, description }]),
  ),
});

/** A key with permissions of its own also enters where other keys do not. */
const kindsOf = ({ takes, key }: Permission): CallerKind[] =>
  callerKinds.filter((kind) => takes.includes(kind) || (kind === 'api_key' && key !== 'none'));

const securityOf = ({ access, uses = [] }: Contract) => {
  const kinds = access === 'public' ? uses : kindsOf(access);
  const noCredential = access === 'public' && kinds.length > 0 ? [{}] : [];
  return [...noCredential, ...kinds.map((kind) => ({ [kind]: [] }))];
};

/** Returns a sentence about the credentials and roles that a route takes. */
function accessOf({ access }: Contract): string {
  if (access === 'public') return 'Needs no credential.';
  if (access.takes.every((kind) => kind === 'master')) return 'Takes the master key.';
  const credential = access.takes.includes('api_key') ? 'a session or an API key' : 'a session';
  const role = access.roles.includes('member') ? 'any role' : access.roles.join(' or ');
  const condition = `${access.operator ? ' of the operator team' : ''}${access.verified ? ' with a verified e-mail' : ''}`;
  const master = access.takes.includes('master') ? ', or the master key' : '';
  return `Takes ${credential} of ${role}${condition}${master}.${keyAccessOf(access)}`;
}

/** Returns sentences about the API keys with restrictions that a route takes. */
function keyAccessOf({ takes, key, byProject }: Permission): string {
  if (key === 'none') return '';
  const scope = byProject ? '' : ' A key for some projects is refused.';
  if (key === 'any') return scope;
  const needed = key === 'read' ? '`read` or `write`' : `\`${key}\``;
  const who = takes.includes('api_key')
    ? ' A key with permissions needs'
    : ' An API key is taken only with the permission';
  return `${who} ${needed}.${scope}`;
}

/** Describes the request that receivers of webhooks get. */
const alertFired: RouteConfig = {
  method: 'post',
  path: 'alertFired',
  operationId: 'alertFired',
  tags: ['Monitoring'],
  summary: 'An alert has fired',
  description: 'Posted to every webhook. See `POST /v1/alerts/webhooks`.',
  security: [],
  request: {
    headers: z.object({
      'webhook-id': id('alr').describe('The id of the alert, the same for each attempt.'),
      'webhook-timestamp': textLike('1772368215', 'The time of this attempt, in seconds since the epoch.'),
      'webhook-signature': textLike(
        `v1,${'Example'.repeat(6)}a=`,
        '`v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64.',
      ),
    }),
    body: { required: true, content: { 'application/json': { schema: AlertFired } } },
  },
  responses: {
    200: { description: 'Delivered. Any status of 200 to 299 means the same.' },
    410: { description: 'Disables the webhook.' },
  },
};

const idOf = (kind: string, object: string) => id(kind).describe(`The id of ${object}.`);

/** Describes the parameters of paths, by name. A contract may describe its own in `params`. */
const parameters: Readonly<Record<string, z.ZodType>> = {
  user_id: idOf('usr', 'an account of your team'),
  invite_id: idOf('inv', 'an invite of your team'),
  session_id: idOf('ses', 'a session of your own'),
  key_id: idOf('key', 'an API key of your own'),
  project_id: idOf('prj', 'a project of your team'),
  dataset_id: idOf('dst', 'a dataset of the project'),
  model_id: idOf('mdl', 'a model of the project'),
  conversation_id: idOf('cnv', 'a conversation of your own in the project'),
  response_id: idOf('resp', 'a response of your own'),
  job_id: idOf('job', 'a job'),
  budget_id: idOf('bud', 'a budget'),
  rule_id: idOf('rul', 'an alert rule'),
  alert_id: idOf('alr', 'an alert'),
  webhook_id: idOf('whk', 'a webhook'),
  deployment_id: idOf('dep', 'a deployment'),
  model_name: z.string().min(1).meta({ description: 'The name of the deployment, percent-encoded.', example: 'iris' }),
  model_version: z.string().min(1).meta({ description: 'A version of the model. A file has version 1.', example: '1' }),
  token: secret('tni').describe('The token of an invite.'),
  version: z.int().min(1).max(GREATEST_VERSION).meta({ description: 'A version that the object has had.', example: 1 }),
  record: z.string().min(1).meta({ description: 'The id of a record, percent-encoded.', example: 'fr' }),
  alias: z
    .string()
    .regex(ModelAlias.NAME)
    .meta({ description: '1 to 64 letters, digits, `.`, `_` and `-`.', example: 'champion' }),
  model: z.string().min(1).meta({
    description:
      'The id of a project, or its name if no other project of the team has it. Slashes may be sent as they are.',
    example: 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
  }),
  path: z
    .string()
    .min(1)
    .max(modelFileLimits.pathBytes)
    .meta({
      pattern: '^[^./\\\\][^/\\\\]*(/[^./\\\\][^/\\\\]*)*$',
      description: `A path below the models folders, of at most ${modelFileLimits.pathBytes} bytes. Its slashes are sent as they are.`,
      example: 'vision/iris.onnx',
    }),
};

/** Returns the schema of a parameter. A test fails if nothing describes it. */
const parameterSchema = ({ params = {} }: Contract, name: string): z.ZodType =>
  params[name] ?? parameters[name] ?? z.string();
