/** Describes an engine that runs elsewhere and speaks HTTP: its translation, its source and its settings. */
import { z } from 'zod';
import type { JsonSchemas, Tracer } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionEnd, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import type { RuntimeSource, RuntimeTask } from '../../domain/chat/runtime.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { RestartDelayBounds } from '../system/scheduling.js';

/** An engine elsewhere, as a model's spec names it. */
export interface HttpSource<Model> extends RuntimeSource {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** A secret: not for logs, errors and answers. */
  readonly key: string | null;
  /** The fields that only engines of this kind have. */
  readonly model: Model;
  /** Is absent if the spec does not name it. */
  readonly task?: RuntimeTask;
}

/** Translates requests for one kind of engine, and translates its answers back. */
export interface EngineDialect<Model> {
  /** The path of a GET request. The engine is ready if it answers with 2xx, 404 or 405. */
  readonly probePath: string;
  /** Recognizes that the context is too small, in the text of an answer with status 400, 404, 413 or 422. */
  readonly contextExceeded: RegExp;
  headers(key: string | null): Record<string, string>;
  /**
   * Translates a request. If its `maxTokens` is null, the engine chooses the length of the answer. `stream` asks for
   * server-sent events. It is only true if the engine has `chunk`.
   */
  request(request: ChatRequest, model: Model, stream: boolean): { readonly path: string; readonly body: object };
  /**
   * Returns the schema that turns the JSON of an answer with status 200 into a completion. Its messages continue the
   * sentence "The runtime gave no valid answer: ". They must not repeat anything of the answer.
   */
  answer(model: Model): z.ZodType<Completion>;
  /**
   * Returns the schema that turns the JSON of one event into its part of the answer. Its messages are like those of
   * `answer`. The answer ends with the event `[DONE]` or at the end of the body. If an engine lacks this method, the
   * whole answer is one part.
   */
  chunk?(model: Model): z.ZodType<EngineChunk>;
  /** An engine without this method makes no embeddings. */
  embeddings?(request: EmbeddingRequest, model: Model): EngineEmbeddings;
}

export interface EngineEmbeddings {
  readonly path: string;
  readonly body: object;
  /** The schema of the answer. Its messages are like those of `EngineDialect.answer`. */
  readonly answer: z.ZodType<Embeddings>;
}

/** One event of an answer. It may add nothing to the text. */
export interface EngineChunk extends Omit<CompletionPart, 'end'> {
  /** One chunk must have a reason. No text may follow that chunk. */
  readonly finishReason?: CompletionEnd['finishReason'] | null;
  /** If several chunks have a usage, the last usage is used. */
  readonly usage?: CompletionEnd['usage'];
}

export interface EngineSettings {
  /** Calls that one engine answers at once. Default: 32. */
  readonly maxConcurrent: number;
  /** Calls that may wait while others are answered. */
  readonly queue: number;
  /** The most time that a call may wait and run, in total. */
  readonly timeoutMs: number;
  /** The most time until the answer to a probe. Default: 10 s. */
  readonly probeTimeoutMs: number;
  /** An engine that answers that it is not ready yet counts as loading for this time. Default: 120 s. */
  readonly loadTimeoutMs: number;
  /** Checks answers with a strict format. */
  readonly schemas: JsonSchemas;
  /** Makes a span of each call to the engine, and the headers of its trace. Default: none. */
  readonly tracer?: Tracer;
  /** The time between two probes of an engine that can't be used. Default: 0.5 s, up to 30 s. */
  readonly retryDelayMs: RestartDelayBounds;
}

export const usualEngineSettings = {
  maxConcurrent: 32,
  probeTimeoutMs: 10_000,
  loadTimeoutMs: 120_000,
  retryDelayMs: { first: 500, max: 30_000 },
};

/** The hosts and keys that the operator allows in the specs of teams. */
export interface EngineAccess {
  /** Each entry is a `host`, which allows all ports, or `host:port`, as written in a URL. */
  readonly allowedHosts: readonly string[];
  /** The keys of engines by the names of their settings. */
  readonly keys: Readonly<Record<string, EngineKey>>;
}

interface EngineKey {
  /** A secret: not for logs, errors and answers. */
  readonly key: string;
  /** The only `host` or `host:port` that gets the key; null for every allowed host. */
  readonly host: string | null;
}

const LONGEST = 2_000;

/** Accepts a text that is not empty. `message` is the error text for other values. */
export const specText = (message: string) => z.string(message).min(1, message).max(LONGEST, message);

/** Accepts the address of an allowed host, and the name of a setting that holds a key for it. */
export const engineFields = ({ allowedHosts, keys }: EngineAccess) =>
  z
    .object({
      base_url: baseUrl(allowedHosts),
      key_setting: keySetting(keys),
      task: z.enum(['chat', 'embedding'], 'must be chat or embedding').nullish(),
    })
    .refine(({ base_url, key_setting: key }) => !key?.host || isOn(new URL(base_url), [key.host]), {
      path: ['key_setting'],
      error: 'names a key for another host',
    })
    .transform(({ base_url, key_setting, task }) => ({
      baseUrl: base_url,
      key: key_setting?.key ?? null,
      ...(task && { task }),
    }));

/** Returns the address and the key of an engine for deployments. Throws InvalidRequest. */
export function endpointOf(access: EngineAccess, endpoint: string, keySetting: string | null) {
  const { data, error } = engineFields(access).safeParse({ base_url: endpoint, key_setting: keySetting });
  if (!error) return data;
  const [{ path, message } = { path: [], message: 'is invalid' }] = error.issues;
  throw new InvalidRequest([{ path: path[0] === 'key_setting' ? 'key_setting' : 'endpoint', message }]);
}

export function readSpec<T>(fields: z.ZodType<T>, spec: JsonObject): T {
  const { data, error } = fields.safeParse(spec);
  if (!error) return data;
  const [{ path, message } = { path: [], message: 'is invalid' }] = error.issues;
  throw new InvalidRequest([{ path: `spec.${String(path[0])}`, message }]);
}

const NO_URL = 'must be an http:// or https:// URL';

const hostAndPort = ({ protocol, hostname, port }: URL) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;

/** Returns whether the URL is on one of `hosts`, which are like `EngineAccess.allowedHosts`. */
const isOn = (url: URL, hosts: readonly string[]) => hosts.includes(url.hostname) || hosts.includes(hostAndPort(url));

function baseUrl(allowedHosts: EngineAccess['allowedHosts']) {
  return specText(NO_URL)
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), NO_URL)
    .transform((text) => new URL(text))
    .refine(({ username, password }) => !username && !password, 'must not contain credentials: name a key_setting')
    .refine(({ search, hash }) => !search && !hash, 'must end with its path')
    .refine((url) => isOn(url, allowedHosts), {
      error: ({ input }) =>
        `must be on a host that SERVICE_RUNTIME_ALLOWED_HOSTS allows; ${hostAndPort(input as URL)} is not`,
    })
    .transform(({ href }) => href.replace(/[?#]*$/, '').replace(/\/+$/, ''));
}

const NO_SETTING = 'must be the name of a setting that begins with SERVICE_RUNTIME_KEY_';

function keySetting(keys: EngineAccess['keys']) {
  const keyOf = (name: string) => (Object.hasOwn(keys, name) && keys[name]) || null;
  return specText(NO_SETTING)
    .regex(/^SERVICE_RUNTIME_KEY_\w*$/, NO_SETTING)
    .refine((name) => keyOf(name) !== null, { error: ({ input }) => `names ${input}, which is not set` })
    .transform(keyOf)
    .nullish()
    .transform((key) => key ?? null);
}
