import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { MemoryBudget } from '../../../application/shared/memory-budget.js';
import { DomainError, type Finding, InvalidRequest, NotFound } from '../../../domain/shared/errors.js';
import type { Call, Contract, ExistenceCheck } from '../contract.js';
import { firstUnstorable } from '../json-body.js';
import type { CallWatch } from './call-watch.js';
import { reservationOf } from './memory.js';
import { addressOf } from './rate-limit.js';

const IDENTIFIER = /^[a-z]{3}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface ValidateDependencies {
  readonly memory: MemoryBudget;
  readonly watch: CallWatch;
}

/** Checks all parts of the request against the contract and creates the call that the controller gets. */
export function validate(contract: Contract, { memory, watch }: ValidateDependencies): RequestHandler {
  const headersSchema = contract.headers && z.object(contract.headers);
  return async (request, response, next) => {
    const { context } = request;
    const { caller, requestId, readQuotas } = context;
    const params = paramsOf(request);
    const ids = Object.entries(params).filter(([name]) => name.endsWith('_id'));
    if (!ids.every(([, id]) => IDENTIFIER.test(id))) throw contract.missing?.() ?? new NotFound();
    context.target = { caller, params, headers: {} };
    const headers = headersSchema ? (parsed(headersSchema, headersOf(contract, request)) as Call['headers']) : {};
    context.target = { caller, params, headers };
    context.call = {
      ...context.target,
      query: contract.query && (await queryOf(contract.query, request)),
      body: contract.body && bodyOf(contract, contract.body, context.body),
      ifMatch: ifMatchVersion(request.get('if-match')),
      signal: endSignal(contract, request, response, watch),
      memory: reservationOf(memory, request, response),
      requestId,
      client: { address: addressOf(request), userAgent: request.get('user-agent') ?? null },
      readQuotas,
    };
    next();
  };
}

/** Checks that the object of an invalid request exists, so that a missing object is reported first. */
export const existenceFirst =
  (exists: ExistenceCheck | undefined): ErrorRequestHandler =>
  async (error, request, _response, next) => {
    const { target } = request.context;
    if (target && error instanceof DomainError && error.kind === 'invalid') await exists?.(target as never);
    next(error);
  };

/** Returns the parameters of the path. Joins the parts of a `{name*}` by slashes. Express has decoded each part. */
function paramsOf({ params }: Request): Record<string, string> {
  const joined = Object.entries(params).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : value.join('/'),
  ]);
  return Object.fromEntries(joined);
}

/**
 * Returns the version in `If-Match`. Returns undefined for `*` or without the header. Returns NaN, which equals no
 * version, for any text that is not a single entity tag of this service.
 */
export function ifMatchVersion(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tag = /^\s*(?:W\/)?"([1-9]\d{0,9})"\s*$/.exec(header);
  return tag ? Number(tag[1]) : Number.NaN;
}

const headersOf = ({ headers = {} }: Contract, request: Request) =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, request.get(name)]));

async function queryOf(schema: z.ZodType, { query }: Request): Promise<unknown> {
  const unstorable = await firstUnstorable(query);
  if (unstorable) throw new InvalidRequest([unstorable]);
  return parsed(schema, query);
}

function bodyOf({ refuseFirst, refusalOf }: Contract, schema: z.ZodType, body: unknown): unknown {
  const refusal = body instanceof InvalidRequest ? body : refuseFirst?.(body);
  if (refusal) throw refusal;
  return parsed(schema, body, refusalOf);
}

function parsed(schema: z.ZodType, value: unknown, refusalOf?: Contract['refusalOf']): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues.map(withinUnion);
  throw refusalOf?.(issues) ?? new InvalidRequest(findings(issues));
}

/** Returns the deepest issue of a union's alternatives, or the union's own issue if each is about the whole value. */
function withinUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flatMap(([first]) => first ?? []).map(withinUnion);
  const [deepest] = inner.filter(({ path }) => path.length > 0).sort((a, b) => b.path.length - a.path.length);
  return deepest ? { ...deepest, path: [...issue.path, ...deepest.path] } : issue;
}

/** Limits the findings of one refusal. */
const MAX_FINDINGS = 100;

function findings(issues: readonly z.core.$ZodIssue[]): Finding[] {
  const all = issues.slice(0, MAX_FINDINGS).flatMap((issue) => {
    const path = issue.path.map(String);
    if (path.length === 0 && issue.code === 'invalid_type') return [{ path: '', message: 'must be a JSON object' }];
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({ path: [...path, key].join('.'), message: 'is not a field of this request' }));
  });
  const unique = new Map(all.map((finding) => [`${finding.path}\0${finding.message}`, finding]));
  return [...unique.values()].slice(0, MAX_FINDINGS);
}

/** Returns a signal that aborts when the caller disconnects or loses the permission before the answer is written. */
function endSignal({ access }: Contract, { context }: Request, response: Response, watch: CallWatch): AbortSignal {
  const end = new AbortController();
  const close = () => {
    if (!response.writableFinished) end.abort(new Error('the caller went away'));
  };
  if (response.destroyed) close();
  else {
    response.once('close', close);
    const { caller } = context;
    const isWatched = access !== 'public' && caller && caller.kind !== 'master';
    if (isWatched) response.once('close', watch.begin({ by: caller, permission: access }, end));
  }
  return end.signal;
}
