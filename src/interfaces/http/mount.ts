import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { authorize } from '../../domain/accounts/permission.js';
import { RunsElsewhere } from '../../domain/processes/errors.js';
import { DomainError, type Finding, InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { isBodyless } from './arrival.js';
import { readJson, streamJson, streamOctets } from './body.js';
import { type Call, type Contract, Passed, Reply, type Route } from './contract.js';
import { answer, type Exchange, JSON_TYPE } from './exchange.js';
import { methodNotAllowed } from './http-refusal.js';
import { firstUnstorable } from './json-rules.js';
import { type PathParameters, RouteTree } from './route-tree.js';
import { ifMatchVersion } from './versions.js';

/** Gets the answer to a call from the process of the service that has to give it. */
type HandOver = (error: RunsElsewhere, contract: Contract, exchange: Exchange, body: unknown) => Promise<void>;

/** What the routes do about one call. */
interface Way {
  /** Answers by the route of the path, and with 405 for its other methods; null for a path that has none. */
  answer(): Promise<void> | null;
}

export function mount(routes: readonly Route[], handOver: HandOver): (exchange: Exchange) => Way {
  const tree = new RouteTree<Place>();
  for (const [path, own] of byPath(routes)) {
    const byMethod = new Map(own.flatMap((one) => methodsOf(one).map((method) => [method, one] as const)));
    tree.add(path, { path, byMethod });
  }
  return (exchange) => {
    return {
      answer() {
        const found = tree.find(exchange.path);
        if (!found) return null;
        const { path, byMethod } = found.value;
        const one = byMethod.get(exchange.method);
        if (!one) throw methodNotAllowed([...byMethod.keys()]);
        exchange.route = path;
        return serve(one, found.params, exchange, handOver);
      },
    };
  };
}

interface Place {
  readonly path: string;
  readonly byMethod: ReadonlyMap<string, Route>;
}

function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const paths = new Map<string, Route[]>();
  for (const one of routes) paths.set(one.contract.path, [...(paths.get(one.contract.path) ?? []), one]);
  return paths;
}

const methodsOf = ({ contract: { method } }: Route) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]);

/** The order of the checks is a promise: rate limit (before), credential, role, form, existence, content, the act. */
async function serve(
  { contract, handle, exists, before }: Route,
  found: PathParameters,
  exchange: Exchange,
  handOver: HandOver,
) {
  const { caller, request, response, requestId, standings } = exchange;
  if (contract.access !== 'public') authorize(caller, contract.access);
  if (before) await before();
  const json = contract.body && (await bodyOf(contract, request));
  const params = paramsOf(found);
  const ids = Object.entries(params).filter(([name]) => name.endsWith('_id'));
  if (!ids.every(([, id]) => IDENTIFIER.test(id))) throw contract.missing?.() ?? new NotFound();
  let headers: Call['headers'] = {};
  try {
    headers = headersOf(contract, exchange);
    const query = contract.query && (await queryValue(contract.query, exchange));
    const body = contract.body && bodyValue(contract, contract.body, json);
    const ifMatch = ifMatchVersion(exchange.header('if-match'));
    const signal = goneSignal(response);
    const call: Call = { caller, params, query, headers, body, ifMatch, signal, requestId, standings };
    const result = await handle(call as never);
    if (result instanceof Passed) await pass(exchange, result);
    else send(exchange, contract, result);
  } catch (error) {
    if (error instanceof RunsElsewhere) return handOver(error, contract, exchange, json);
    if (error instanceof DomainError && error.kind === 'invalid') await exists?.({ caller, params, headers } as never);
    throw error;
  }
}

const IDENTIFIER = /^[a-z]{3}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A rest of the path comes in its parts, decoded. A slash within one was not meant to part anything. */
function paramsOf(found: PathParameters): Record<string, string> {
  const named = Object.entries(found).map(([name, value]) => {
    if (typeof value === 'string') return [name, value];
    if (!value.some((part) => part.includes('/'))) return [name, value.join('/')];
    throw new InvalidRequest([{ path: name, message: 'must have its slashes as they are, not encoded as %2F' }]);
  });
  return Object.fromEntries(named);
}

function bodyOf(contract: Contract, request: IncomingMessage): unknown {
  if (contract.media) return streamOctets(request);
  if (contract.streamed) return streamJson(request, contract.bodyLimit ?? 'ordinary');
  if (contract.bodyOptional && isBodyless(request)) return {};
  return readJson(request, contract).catch(deferInvalid);
}

/** Content is judged after existence, so a body that is invalid as a whole waits its turn. */
function deferInvalid(error: unknown): InvalidRequest {
  if (error instanceof InvalidRequest) return error;
  throw error;
}

function headersOf(contract: Contract, exchange: Exchange): Call['headers'] {
  const schema = headersSchema(contract);
  if (!contract.headers || !schema) return {};
  const given = Object.keys(contract.headers).map((name) => [name, exchange.header(name.toLowerCase())]);
  return validated(schema, Object.fromEntries(given)) as Call['headers'];
}

const headersSchemas = new WeakMap<Contract, z.ZodType>();

/** Made once for each contract: making a schema takes longer than all else that is done for a call. */
function headersSchema(contract: Contract): z.ZodType | null {
  if (!contract.headers) return null;
  const known = headersSchemas.get(contract) ?? z.object(contract.headers);
  headersSchemas.set(contract, known);
  return known;
}

function bodyValue({ refuseFirst }: Contract, schema: z.ZodType, json: unknown): unknown {
  const refusal = json instanceof InvalidRequest ? json : refuseFirst?.(json);
  if (refusal) throw refusal;
  return validated(schema, json);
}

async function queryValue(schema: z.ZodType, { query }: Exchange): Promise<unknown> {
  const unstorable = await firstUnstorable(query);
  if (unstorable) throw new InvalidRequest([unstorable]);
  return validated(schema, query);
}

function validated(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new InvalidRequest(findings(result.error.issues));
}

/** At most as many as anybody reads, each once. */
const MOST_FINDINGS = 100;

function findings(issues: readonly z.core.$ZodIssue[]): Finding[] {
  const all = issues.slice(0, MOST_FINDINGS).flatMap((issue) => {
    const path = issue.path.map(String);
    if (path.length === 0 && issue.code === 'invalid_type') return [{ path: '', message: 'must be a JSON object' }];
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a field of this request' }));
  });
  const unique = new Map(all.map((finding) => [`${finding.path}\0${finding.message}`, finding]));
  return [...unique.values()].slice(0, MOST_FINDINGS);
}

/** The first is the one that Prometheus knows its format by. */
const textTypes = { 'text/plain': 'text/plain; version=0.0.4; charset=utf-8' } as const;

function send(exchange: Exchange, contract: Contract, result: unknown): void {
  const { response } = exchange;
  const { status, versioned, answerMedia } = contract;
  const reply = result instanceof Reply ? result : new Reply(status, result);
  const body = contract.answer.parse(reply.body) as { version?: number };
  if (versioned) response.setHeader('ETag', `"${body.version}"`);
  exchange.set(reply.headers);
  if (answerMedia) answer(response, reply.status, textTypes[answerMedia], String(body));
  else answer(response, reply.status, JSON_TYPE, JSON.stringify(body));
}

async function pass(exchange: Exchange, { status, headers, chunks }: Passed): Promise<void> {
  const { response } = exchange;
  response.statusCode = status;
  exchange.set(headers);
  // What breaks off here has begun already: the caller is left with a connection that ends too early.
  await pipeline(chunks, response).catch(() => response.destroy());
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the caller went away'));
  });
  return gone.signal;
}
