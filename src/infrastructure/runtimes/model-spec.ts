/** Reads what a chat engine needs from a model's spec. */
import { z } from 'zod';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';

/** The hosts and keys that the operator lets the specs of teams name. */
export interface EngineAccess {
  /** `host`, which allows each of its ports, or `host:port`; as a URL writes them. */
  readonly allowedHosts: readonly string[];
  /** The keys of engines, by the names of their settings. */
  readonly keys: Readonly<Record<string, string>>;
}

const LONGEST = 2_000;

/** Accepts a text that is not empty. `message` names what else the field must be. */
export const specText = (message: string) => z.string(message).min(1, message).max(LONGEST, message);

/** Accepts the address of an allowed host, and the name of a setting that holds a key. */
export const engineFields = ({ allowedHosts, keys }: EngineAccess) =>
  z.object({ base_url: baseUrl(allowedHosts), key_setting: keySetting(keys) });

/** Throws InvalidRequest with the first field that is wrong. */
export function readSpec<T>(fields: z.ZodType<T>, spec: JsonObject): T {
  const { data, error } = fields.safeParse(spec);
  if (!error) return data;
  const [{ path, message } = { path: [], message: 'is invalid' }] = error.issues;
  throw new InvalidRequest([{ path: `spec.${String(path[0])}`, message }]);
}

const NO_URL = 'must be an http:// or https:// URL';

function baseUrl(allowedHosts: EngineAccess['allowedHosts']) {
  const hostAndPort = ({ protocol, hostname, port }: URL) =>
    `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  const isAllowed = (url: URL) => allowedHosts.includes(url.hostname) || allowedHosts.includes(hostAndPort(url));
  return specText(NO_URL)
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), NO_URL)
    .transform((text) => new URL(text))
    .refine(({ username, password }) => !username && !password, 'must not contain credentials: name a key_setting')
    .refine(({ search, hash }) => !search && !hash, 'must end with its path')
    .refine(isAllowed, {
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
