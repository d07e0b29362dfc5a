import type { z } from 'zod';
import type { Quota } from '../../application/operations/ports.js';
import type { Caller, CallerKind } from '../../domain/accounts/caller.js';
import type { Permission } from '../../domain/accounts/permission.js';
import type { DomainError } from '../../domain/shared/errors.js';
import type { BodyRules } from './body.js';
import type { Refusal, RefusalCode } from './refusals.js';

/** Declares one route. The Express route, the validation, the answer's shape and the OpenAPI document come from it. */
export interface Contract<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
> extends BodyRules {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /**
   * With `{name}` for each parameter; one whose name ends in `_id` is an identifier. `{name*}`, the last, is the rest of
   * the path, slashes included.
   */
  readonly path: Path;
  readonly id: string;
  readonly tag: 'Team accounts' | 'Project workspace' | 'Runtime' | 'Inference' | 'Jobs' | 'Monitoring' | 'Operations';
  readonly summary: string;
  readonly description?: string;
  readonly access: Permission | 'public';
  /** Credentials that are of use to a public route all the same. */
  readonly uses?: readonly CallerKind[];
  /** What stands behind the `?`. */
  readonly query?: Query;
  /** Request headers that mean something to this route, by name. What is in them is judged as content. */
  readonly headers?: Readonly<Record<string, z.ZodType<string | undefined>>>;
  readonly body?: Body;
  /** All of the body may be left out, with the body itself. */
  readonly bodyOptional?: true;
  /** The body is passed on unread, as a `ByteStream`; its schema only documents what it is for. */
  readonly streamed?: true;
  /**
   * What a streamed body is, where it is not JSON. It may take as long as it flows, and it is the use case that bounds its
   * size.
   */
  readonly media?: 'application/octet-stream';
  /** A refusal with a code of its own that is told before all else that is wrong with the body. */
  readonly refuseFirst?: (json: unknown) => DomainError | null;
  /** The resource has a version, which the answer carries as `ETag`. What refuses a stale one takes `If-Match`. */
  readonly versioned?: true;
  readonly status: 200 | 201;
  /** Another success status that the route can give, and when. */
  readonly otherStatus?: { readonly status: 200 | 202; readonly when: string };
  readonly answer: Answer;
  /** What the answer is, where it is not JSON: then its schema is that of a text. */
  readonly answerMedia?: 'text/plain';
  /** Headers that this route's success can carry, by name, and what is in them. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Lists the refusals that its access, its parameters and its body do not imply. */
  readonly refusals: readonly (RefusalCode | Refusal)[];
  /** What is told of a path in which an identifier cannot be one; by default `not_found`. */
  readonly missing?: () => DomainError;
}

type Defaults = 'status' | 'refusals';
type Declared<C extends Contract> = Omit<C, Defaults> & Partial<Pick<C, Defaults>>;

/** Declares a route that answers 200 and refuses nothing of its own, unless it says otherwise. */
export const contract = <
  const Path extends string,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Query extends z.ZodType,
>(
  declared: Declared<Contract<Path, Body, Answer, Query>>,
): Contract<Path, Body, Answer, Query> => ({ status: 200, refusals: [], ...declared });

type Parameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? (Name extends `${infer Plain}*` ? Plain : Name) | Parameters<Rest>
  : never;

/** The validated parts of a request, for a handler. */
export interface Call<
  Path extends string = string,
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
> {
  readonly caller: Caller | null;
  readonly params: Readonly<Record<Parameters<Path>, string>>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
  /** Those that the contract names, as it names them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The version in `If-Match`: a number, NaN for anything that cannot be one, undefined when the header is absent. */
  readonly ifMatch: number | undefined;
  /** Aborted when the caller goes away before the answer. */
  readonly signal: AbortSignal;
  readonly requestId: string;
  /** Reads what the caller has left of each rate limit after this call. */
  readonly readQuotas: () => Promise<readonly Quota[]>;
}
export type CallOf<C> =
  C extends Contract<infer Path, infer Body, z.ZodType, infer Query> ? Call<Path, Body, Query> : never;
export type AnswerOf<C> = C extends Contract<string, z.ZodType, infer Answer> ? z.input<Answer> : never;

/** An answer with another status than the contract's first, or with headers. */
export class Reply<T> {
  constructor(
    readonly status: number,
    readonly body: T,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** An answer that is sent piece by piece, as its maker gives it. */
export class StreamedResponse {
  constructor(
    readonly status: number,
    readonly headers: Readonly<Record<string, string>>,
    readonly chunks: AsyncIterable<Uint8Array>,
  ) {}
}

export interface Route {
  readonly contract: Contract;
  readonly handle: (call: never) => Promise<unknown>;
  /** Throws what can be refused without the body, before it is read. */
  readonly before?: () => Promise<unknown>;
  /** Throws NotFound when an object that the call names does not exist: asked before it is refused as invalid. */
  readonly exists?: (call: never) => Promise<unknown>;
}

export function route<Path extends string, Body extends z.ZodType, Answer extends z.ZodType, Query extends z.ZodType>(
  declared: Contract<Path, Body, Answer, Query>,
  handle: (call: Call<Path, Body, Query>) => Promise<z.input<Answer> | Reply<z.input<Answer>> | StreamedResponse>,
  exists?: (call: Pick<Call<Path, Body>, 'caller' | 'params' | 'headers'>) => Promise<unknown>,
  before?: () => Promise<unknown>,
): Route {
  return { contract: declared as unknown as Contract, handle, exists, before } as Route;
}

export interface Controller {
  readonly routes: readonly Route[];
}
