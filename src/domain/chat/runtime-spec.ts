import { InvalidRequest } from '../shared/errors.js';
import type { JsonObject } from '../workspace/json.js';
import { Model } from '../workspace/model.js';
import { type Dtype, dtypes, type OnnxSource, type OpenAiSource } from './runtime.js';

/** What the operator lets the specs of teams name. */
export abstract class UpstreamRules {
  /** `host`, which allows each of its ports, or `host:port`; as a URL writes them. */
  abstract readonly allowedHosts: readonly string[];
  /** The keys of engines, by the names of their settings. */
  abstract readonly keys: Readonly<Record<string, string>>;
}

/** The part of a model's spec that says what runs it. `path` has yet to be found below the models folders. */
export type RuntimeSpec = (Omit<OnnxSource, 'folder'> & { readonly path: string }) | OpenAiSource;

export const KEY_SETTINGS = 'SERVICE_RUNTIME_KEY_';

const LONGEST = 2_000;
const MOST_ALIASES = 100;

/** What is to run a registered model. Throws InvalidRequest with the first thing that is wrong with the spec. */
export function runtimeSpecOf(model: Pick<Model, 'state' | 'spec'>, rules: UpstreamRules): RuntimeSpec {
  const { spec } = model;
  Model.requireRegistered(model);
  if (spec.runtime === 'onnx') return onnx(spec);
  if (spec.runtime === 'openai') return openAi(spec, rules);
  throw unfit('spec.runtime', 'must be "onnx" or "openai" for a model that is to be connected');
}

function onnx({ path, dtype }: JsonObject): RuntimeSpec {
  if (typeof path !== 'string' || path === '') throw unfit('spec.path', 'must name a model folder');
  if (isAbsent(dtype)) return { kind: 'onnx', path };
  if (!dtypes.includes(dtype as Dtype)) throw unfit('spec.dtype', `must be one of ${dtypes.join(', ')}`);
  return { kind: 'onnx', path, dtype: dtype as Dtype };
}

function openAi({ base_url, model, model_aliases, key_setting }: JsonObject, rules: UpstreamRules): OpenAiSource {
  const baseUrl = addressOf(base_url, rules.allowedHosts);
  if (!isText(model)) throw unfit('spec.model', 'must be what the engine calls the model');
  const aliases = model_aliases ?? [];
  if (!Array.isArray(aliases) || aliases.length > MOST_ALIASES || !aliases.every(isText))
    throw unfit('spec.model_aliases', `must be an array of at most ${MOST_ALIASES} names`);
  return { kind: 'openai', baseUrl, model, modelAliases: aliases, key: keyOf(key_setting, rules.keys) };
}

function addressOf(text: unknown, allowed: UpstreamRules['allowedHosts']): string {
  const wrong = (message: string) => unfit('spec.base_url', message);
  if (!isText(text) || !URL.canParse(text)) throw wrong('must be an http:// or https:// URL');
  const { protocol, hostname, port, username, password, search, hash, href } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') throw wrong('must be an http:// or https:// URL');
  if (username || password) throw wrong('must not contain credentials: name a key_setting');
  if (search || hash) throw wrong('must end with its path');
  const full = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
  if (!allowed.includes(hostname) && !allowed.includes(full))
    throw wrong(`must be on a host that SERVICE_RUNTIME_ALLOWED_HOSTS allows; ${full} is not`);
  return href.replace(/[?#]*$/, '').replace(/\/+$/, '');
}

function keyOf(name: unknown, keys: UpstreamRules['keys']): string | null {
  if (isAbsent(name)) return null;
  if (!isText(name) || !name.startsWith(KEY_SETTINGS) || !/^\w+$/.test(name))
    throw unfit('spec.key_setting', `must be the name of a setting that begins with ${KEY_SETTINGS}`);
  const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (!key) throw unfit('spec.key_setting', `names ${name}, which is not set`);
  return key;
}

const isAbsent = (value: unknown) => value === undefined || value === null;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST;

const unfit = (path: string, message: string) => new InvalidRequest([{ path, message }]);
