import type { z } from 'zod';
import type { Quota } from '../../application/operations/ports.js';
import type { Reservation } from '../../application/shared/memory-budget.js';
import type { Caller, CallerKind } from '../../domain/accounts/caller.js';
import type { Client } from '../../domain/accounts/credential.js';
import type { Permission } from '../../domain/accounts/permission.js';
import type { DomainError } from '../../domain/shared/errors.js';
import type { BodyRules } from './body.js';
import type { Problem, Refusal, RefusalCode } from './refusals.js';

/** Declares one route. The Express route, the validation, the answer's shape and the OpenAPI document come from it. */
export interface Contract<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
> extends BodyRules {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Writes a parameter as `{name}`, an id as `{…_id}`, and the rest of a path with its slashes as `{name*}`. */
  readonly path: Path;
  readonly id: string;
  readonly tag:
    | 'Team accounts'
    | 'Calls'
    | 'Project workspace'
    | 'Runtime'
    | 'Inference'
    | 'OpenAI'
    | 'Anthropic'
    | 'Jobs'
    | 'Budgets'
    | 'Monitoring'
    | 'Operations';
  readonly summary: string;
  readonly description?: string;
  readonly access: Permission | 'public';
  /** Lists the credentials that a public route reads. */
  readonly uses?: readonly CallerKind[];
  /** The schemas of ids in the path that are not the service's own, by name. */
  readonly params?: Readonly<Record<string, z.ZodType<string>>>;
  readonly query?: Query;
  /** Validates request headers of this route, by name. */
  readonly headers?: Readonly<Record<string, z.ZodType<string | undefined>>>;
  readonly body?: Body;
  /** Describes the body in the OpenAPI document, if the model of the call decides more than `body` checks. */
  readonly documentedBody?: z.ZodType;
  /** Lets callers leave out the body. */
  readonly bodyOptional?: true;
  /** Gives the handler the body as a `ByteStream`, before it is read. The schema only documents the body. */
  readonly streamed?: true;
  /**
   * Accepts a streamed body as clients of the Open Inference Protocol send it: with binary tensors after the JSON,
   * compressed by gzip or deflate, or without a media type. The answer may have binary tensors, too.
   */
  readonly tensors?: true;
  /** Replaces JSON as the type of a streamed body. The use case limits its size, and `flowing` limits its time. */
  readonly media?: 'application/octet-stream';
  /** Returns the error to throw before the schema checks the body, or null. */
  readonly refuseFirst?: (json: unknown) => DomainError | null;
  /** Returns the error for a body that the schema refuses, or null for `invalid_request`. */
  readonly refusalOf?: (issues: readonly z.core.$ZodIssue[]) => DomainError | null;
  /** Sends the version of the answer as `ETag`. */
  readonly versioned?: true;
  readonly status: 200 | 201;
  /** Adds another success status. */
  readonly otherStatus?: { readonly status: 200 | 202; readonly when: string };
  readonly answer: Answer;
  /** Replaces JSON as the type of the answer, which is then a string. */
  readonly answerMedia?: 'text/plain';
  /** Lists the types of the answer if it is a file, which is sent as a `StreamedResponse`. */
  readonly answerFiles?: readonly string[];
  /** Describes the data of each event, if the answer can also be server-sent events. */
  readonly answerEvents?: z.ZodType;
  /** Describes headers of successful answers, by name. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Lists the refusals that access, path, query and body do not imply. */
  readonly refusals: readonly (RefusalCode | Refusal)[];
  /** Returns the error for a malformed id in the path. The default is `not_found`. */
  readonly missing?: () => DomainError;
}

type Declared<C extends Contract> = Omit<C, 'tag' | 'method' | 'path' | 'status' | 'refusals'> &
  Partial<Pick<C, 'status' | 'refusals'>>;

const declare =
  (tag: Contract['tag'], method: Contract['method']) =>
  <const Path extends string, Body extends z.ZodType, Answer extends z.ZodType, Query extends z.ZodType>(
    path: Path,
    declared: Declared<Contract<Path, Body, Answer, Query>>,
  ): Contract<Path, Body, Answer, Query> => ({ tag, method, path, status: 200, refusals: [], ...declared });

/** Returns functions that declare routes. By default a route answers 200 and has no refusals of its own. */
export const contractsOf = (tag: Contract['tag']) => ({
  get: declare(tag, 'get'),
  post: declare(tag, 'post'),
  put: declare(tag, 'put'),
  patch: declare(tag, 'patch'),
  delete: declare(tag, 'delete'),
});

type Parameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Plain}*` ? Plain : Name) | Parameters<Rest>
  : never;

/** Tells who calls and which objects the path names. */
export interface Target<Names extends string = string> {
  readonly caller: Caller | null;
  readonly params: Readonly<Record<Names, string>>;
  /** Holds the headers that the contract names, under these names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Carries the validated parts of a request to a handler. */
export interface Call<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
> extends Target<Parameters<Path>> {
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
  /** Holds the version in `If-Match`, NaN if the header has none, and undefined for `*` or without the header. */
  readonly ifMatch: number | undefined;
  /** Aborts when the caller disconnects or loses the permission before the answer. */
  readonly signal: AbortSignal;
  /** Limits the stored content that the call reads into memory. */
  readonly memory: Reservation;
  readonly requestId: string;
  /** The program that calls and its address. */
  readonly client: Client;
  /** Returns what is left of each rate limit of the caller after this call. */
  readonly readQuotas: () => Promise<readonly Quota[]>;
}
export type CallOf<C> =
  C extends Contract<infer Path, infer Body, z.ZodType, infer Query> ? Call<Path, Body, Query> : never;
export type AnswerOf<C> = C extends Contract<string, z.ZodType, infer Answer> ? z.input<Answer> : never;

/** Gives an answer another status, or headers. */
export class Reply<T> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** Sends an answer that the contract's schema does not check: as a whole, or in chunks as fast as the caller reads. */
export class StreamedResponse {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    readonly chunks: Uint8Array | AsyncIterable<Uint8Array | string>,
    readonly options: {
      /** Closes the connection when this signal aborts. */
      readonly expired?: AbortSignal;
      /** Returns the chunk that reports a failure of `chunks`. Without this function the connection is closed. */
      readonly lastChunk?: (problem: Problem) => string;
    } = {},
  ) {}
}

export interface Route {
  readonly contract: Contract;
  readonly handle: (call: never) => Promise<unknown>;
  /** Throws refusals that need no body, before the body is read. */
  readonly before?: () => Promise<unknown>;
}

export function route<Path extends string, Body extends z.ZodType, Answer extends z.ZodType, Query extends z.ZodType>(
  declared: Contract<Path, Body, Answer, Query>,
  handle: (call: Call<Path, Body, Query>) => Promise<z.input<Answer> | Reply<z.input<Answer>> | StreamedResponse>,
  before?: () => Promise<unknown>,
): Route {
  return { contract: declared as unknown as Contract, handle, before } as Route;
}

/** Holds a check for each id in a path. The check throws NotFound if there is no such object. */
export type Existence<Ids extends string> = {
  readonly [Id in Ids]: (target: Target<Ids>) => Promise<unknown>;
};
export type ExistenceCheck = (target: never) => Promise<unknown>;

export interface Controller {
  readonly routes: readonly Route[];
  /** Holds checks of existence. An invalid call is refused as not found if the object of its last id is missing. */
  readonly exists?: Readonly<Record<string, ExistenceCheck>>;
}
