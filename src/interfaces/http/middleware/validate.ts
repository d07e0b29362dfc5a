import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import type { MemoryBudget } from '../../../application/shared/memory-budget.js';
import { DomainError, InvalidRequest, NotFound } from '../../../domain/shared/errors.js';
import type { Call, Contract, ExistenceCheck } from '../contract.js';
import { firstUnstorable } from '../json-body.js';
import { parsed } from '../parsed.js';
import type { CallWatch } from './call-watch.js';
import { reservationOf } from './memory.js';
import { addressOf } from './rate-limit.js';

const IDENTIFIER = /^[a-z]{3,4}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const isId = ({ params = {} }: Contract, name: string, text: string): boolean =>
  params[name]?.safeParse(text).success ?? IDENTIFIER.test(text);

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
    if (!ids.every(([name, id]) => isId(contract, name, id))) throw contract.missing?.() ?? new NotFound();
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
