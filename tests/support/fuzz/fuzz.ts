import fc from 'fast-check';
import { type Answer, codeOf, HttpCaller } from '../http-caller.js';
import { type Endpoint, OpenApi } from './document.js';
import { type FuzzedRequest, Requests } from './requests.js';
import type { World } from './world.js';

/** Lists the rules that the document states in words, because no schema can express them. */
const inWords = [
  'name: must have at least one visible character',
  'starter_id: must be the id of a starter: GET /v1/project-starters lists them',
  'map: is for records: a starter has no columns',
  'map: there is no column',
  'messages: must end with a message whose role is user',
  'messages[…].content: is required',
  'messages[…].content: may be null only for an assistant',
  'messages[…].tool_call_id: is required for the role tool',
  'messages[…].content[', // some types of blocks are for one role only
  'functions[…].', // names, and schemas that a grammar cannot hold
  'tools[…].function.',
  'tools[…].name: must be the name of the function',
  'tools[…].parameters: must be a JSON schema',
  'tools[…].input_schema: is required',
  'tool_choice: is only for requests with tools',
  'logit_bias.', // a name must be the id of a token
  'input: is required without previous_response_id',
  'background: needs a response that is stored',
  'starting_after: is only for stream=true',
  'echo: is not supported together with logprobs',
  'top_logprobs: is only for requests with logprobs',
  'stream_options: is only for requests with stream',
  'model: names a project whose model chats and makes no embeddings',
  'progress.done: must be at most the total, ',
  'error: must have at most 4096 bytes',
  'status: can no longer become queued',
  'until: must not be before since',
  'threshold: must be a whole number from 1 to 10000: jobs in a row',
  'threshold: must be above 0, at most 10, with at most nine decimal places',
  'budget_id: must be the id of a budget',
  'scope_id: must be the id of ',
  'model_id: must name a model', // a split names its models in another field
  'fallbacks[…]: names a model that cannot be connected',
  'split[…].model_id: names a model that cannot be connected',
  'url: must name a host that can be resolved',
  'path: must have at most 1024 bytes',
  'model_id: must be a registered model',
  'model_id: must be the model that is connected',
  'dataset_id: must be a frozen dataset',
  'cursor: is of another version than',
  'cursor: is of other versions than',
  'inputs', // depends on the model of the deployment
  'Inference-Header-Content-Length: must be at most the length of the body',
];

/** Lists refusals that come before the rate limit, so they do not have its headers. */
const early = ['bad_request', 'misdirected_request', 'headers_too_large', 'request_timeout'];

/** Lists failures that a service with a database must not have. */
const failures = ['internal_error', 'storage_unavailable', 'shutting_down'];

/** Lists refusals of the form or the credential of a request. A valid request never gets them. */
const ofForm = [
  'malformed_json',
  'unsupported_media_type',
  'payload_too_large',
  'bad_request',
  'unauthenticated',
  'session_required',
  'rate_limited',
];

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
}

export interface FuzzReport {
  /** Counts the requests that were sent. */
  readonly requests: number;
  readonly problems: readonly string[];
}

/** Calls every operation of the service's OpenAPI document with generated requests, and compares the answers with it. */
export async function fuzz(url: string, world: World, { requests, seed }: FuzzOptions): Promise<FuzzReport> {
  const caller = new HttpCaller(url);
  const api = new OpenApi((await caller.get('/openapi.json')).body);
  const generated = new Requests(api);
  const numRuns = Math.ceil(requests / api.endpoints.length);
  const samples = api.endpoints.map((endpoint, index) =>
    fc.sample(generated.to(endpoint), { seed: seed + index, numRuns }).map((request) => ({ endpoint, request })),
  );
  const edges = api.endpoints.flatMap((endpoint) =>
    generated.edges(endpoint).map((request) => ({ endpoint, request })),
  );
  const rounds = Array.from({ length: numRuns }, (_, round) => samples.map((sample) => sample[round] as Sent));
  const problems: string[] = [];
  const all = [...edges, ...rounds.flat()];
  for (const { endpoint, request } of all) {
    const problem = await send(caller, api, world, { endpoint, request }).catch(({ stack }: Error) => stack);
    if (!problem) continue;
    const { path, headers, body, how, credential } = request;
    const shown = [endpoint.method, path, JSON.stringify(headers), body].map((part) => String(part).slice(0, 300));
    problems.push(`${endpoint.operationId} (${how}, ${credential}): ${shown.join(' ')}: ${problem}`);
  }
  return { requests: all.length, problems };
}

interface Sent {
  readonly endpoint: Endpoint;
  readonly request: FuzzedRequest;
}

/** Returns how the answer differs from the document, or null. */
async function send(
  caller: HttpCaller,
  api: OpenApi,
  world: World,
  { endpoint, request }: Sent,
): Promise<string | null> {
  const path = await world.filled(request.path);
  const raw = typeof request.body === 'string' ? await world.filled(request.body) : (request.body ?? undefined);
  const headers: Record<string, string> = { Connection: 'close' };
  for (const [name, value] of Object.entries(request.headers)) headers[name] = await world.filled(value);
  const { kind, token } = world.credential(request.credential, endpoint);
  const answer = await caller.call(endpoint.method, path, { token, headers, raw });
  const problem = problemOf(api, endpoint, answer, wantedOf(endpoint, kind, request));
  await world.afterwards(endpoint, answer);
  return problem && `${answer.status} ${JSON.stringify(answer.body).slice(0, 300)} ${problem}`;
}

/** Returns the expected kind of answer. The credential may change it. */
function wantedOf({ security }: Endpoint, kind: string | null, { credential, wanted, how, headers }: FuzzedRequest) {
  const isPublic = security.length === 0 || security.some((one) => Object.keys(one).length === 0);
  if (!isPublic && !security.some((one) => kind !== null && kind in one)) return 'refused';
  // The header may carry the version that the body lacks.
  if (wanted === 'refused' && how === 'body' && 'If-Match' in headers) return 'either';
  return credential === 'fitting' || wanted === 'refused' ? wanted : 'either';
}

/** Compares status, media type, headers and refusal with the document. `HttpCaller` compares status and body, too. */
function problemOf(
  api: OpenApi,
  endpoint: Endpoint,
  { status, headers, body }: Answer,
  wanted: FuzzedRequest['wanted'],
): string | null {
  const code = (status >= 400 && codeOf({ body })) || '';
  const { details = [], error } = status < 400 ? {} : body;
  if (failures.includes(code)) return 'is a failure';
  const declared = api.answer(endpoint, status);
  if (!declared) return code === 'not_found' ? null : 'is not documented';
  const type = headers.get('content-type')?.split(';')[0] ?? 'none';
  if (!declared.content?.[type]) return `is of type ${type}`;
  const lacking = Object.entries(declared.headers ?? {}).flatMap(([name, header]) => {
    const isPromised = api.resolve(header).required || (name.startsWith('RateLimit') && !early.includes(code));
    return isPromised && !headers.has(name) ? [name] : [];
  });
  if (lacking.length > 0) return `lacks ${lacking}`;
  if (wanted === 'refused') return status < 400 || status >= 500 ? 'takes what the document forbids' : null;
  if (wanted === 'either') return null;
  const findings: string[] =
    error?.message !== undefined
      ? [error.message]
      : details.map((one: Record<string, string>) => `${one.path}: ${one.message}`);
  const isInWords = findings.every((finding) =>
    inWords.some((rule) => finding.replace(/\[\d+\]|\.\d+(?=[.:])/, '[…]').startsWith(rule)),
  );
  const isTaken = !ofForm.includes(code) && (code !== 'invalid_request' || isInWords);
  return isTaken ? null : 'refuses what the document allows';
}
