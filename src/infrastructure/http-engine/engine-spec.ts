/** Reads the spec of a model on an engine elsewhere. */
import { z } from 'zod';
import type { RuntimeSource, RuntimeTask } from '../../domain/chat/runtime.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';

/** An engine elsewhere, as a model's spec names it. */
export interface HttpSource<Model> extends RuntimeSource {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** A secret: not for logs, errors and answers. */
  readonly key: string | null;
  /** The fields that only engines of this kind have. */
  readonly model: Model;
  /** Absent if the spec does not name it. */
  readonly task?: RuntimeTask;
}

/** The hosts and keys that the operator allows in the specs of teams. */
export interface EngineAccess {
  /**
   * Each entry is a `host`, which allows all ports, or `host:port`, as written in a URL. With `*.` before a host, the
   * entry is a pattern: it allows all names that have labels in place of the `*`, but not the host itself.
   */
  readonly allowedHosts: readonly string[];
  /** The keys of engines by the names of their settings. */
  readonly keys: Readonly<Record<string, EngineKey>>;
}

interface EngineKey {
  /** A secret: not for logs, errors and answers. */
  readonly key: string;
  /** The only `host` or `host:port` that gets the key; null for every host that is allowed without a pattern. */
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
    // Whoever can add a host that a pattern allows must not get a key in this way.
    .refine(({ base_url, key_setting: key }) => !key || key.host || isOn(new URL(base_url), allowedHosts), {
      path: ['key_setting'],
      error: 'names a key without a host: for a host that only a pattern allows, the operator must write host=key',
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

const isPattern = (host: string) => host.startsWith('*.');

/** Returns whether `hosts` have the host of the URL, or its host and port. A `*` in the URL never stands for a pattern. */
const isOn = (url: URL, hosts: readonly string[]) =>
  hosts.some((host) => !isPattern(host) && (host === url.hostname || host === hostAndPort(url)));

/** Returns whether a pattern in `hosts` allows the URL. */
const isInPattern = (url: URL, hosts: readonly string[]) =>
  hosts.some((host) => isPattern(host) && (fits(url.hostname, host) || fits(hostAndPort(url), host)));

/** Returns whether whole labels stand in `host` in place of the `*` of the pattern. */
const fits = (host: string, pattern: string) =>
  host.endsWith(pattern.slice(1)) && LABELS.test(host.slice(0, 1 - pattern.length));

const LABELS = /^[a-z\d-]+(\.[a-z\d-]+)*$/;

function baseUrl(allowedHosts: EngineAccess['allowedHosts']) {
  return specText(NO_URL)
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), NO_URL)
    .transform((text) => new URL(text))
    .refine(({ username, password }) => !username && !password, 'must not contain credentials: name a key_setting')
    .refine(({ search, hash }) => !search && !hash, 'must end with its path')
    .refine((url) => isOn(url, allowedHosts) || isInPattern(url, allowedHosts), {
      error: ({ input }) =>
        `must be on a host that the operator allows (SERVICE_RUNTIME_ALLOWED_HOSTS); ${hostAndPort(input as URL)} is not`,
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
