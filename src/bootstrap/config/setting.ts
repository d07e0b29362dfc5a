import { existsSync, readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { delimiter, resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

export interface Setting<T = unknown> {
  /** The purpose of the setting, for docs/settings.md. */
  readonly about: string;
  /** The default text. */
  readonly fallback?: string;
  /** Describes the default of a setting without `fallback`. Without it, docs/settings.md shows "none". */
  readonly shown?: string;
  /** If true, no message repeats the value. */
  readonly secret?: true;
  /** Reads and checks the text. Its message says what the text must be. */
  readonly read: z.ZodType<T, string>;
}

export const setting = <T>(one: Setting<T>) => one;

export const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error })
    .transform(Number)
    .pipe(z.number().min(min, { error }).max(max, { error }));
};
export const secondsOfTime = (min: number, max: number) => {
  const error = `must be a number of seconds from ${min} to ${max}`;
  const decimal = z.string().regex(/^\d{1,9}(\.\d{1,3})?$/, { error });
  return decimal.transform(Number).pipe(z.number().min(min, { error }).max(max, { error }));
};
export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
export const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).transform((text) => text === 'true');
export const secretText = (min: number) =>
  z.string().regex(new RegExp(`^\\S{${min},}$`), { error: `must have at least ${min} characters and no white space` });
export const address = (protocols: readonly string[], error: string) =>
  z.string().refine((text) => protocols.includes(protocolOf(text)), { error });
export const webAddress = address(['http:', 'https:'], 'must be an http:// or https:// URL');
/** Accepts a URL that paths can be added to. */
export const baseAddress = webAddress
  .refine((text) => !/[?#\s]/.test(text), { error: 'must have no query, no fragment and no white space' })
  .transform((url) => url.replace(/\/+$/, ''));
/** Accepts URLs that paths can be added to, separated by commas, each with another host or port. */
export const baseAddresses = z
  .string()
  .transform((list) => list.split(','))
  .pipe(z.array(baseAddress))
  .refine((urls) => new Set(urls.map((url) => new URL(url).host)).size === urls.length, {
    error: 'must name each host and port once',
  });
const protocolOf = (text: string): string => (URL.canParse(text) ? new URL(text).protocol : '');

export function isKeySet(path: string): boolean {
  try {
    return Array.isArray(JSON.parse(readFileSync(path, 'utf8')).keys);
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Folders that exist, separated as in PATH. */
export const folders = z
  .string()
  .transform((list) =>
    list
      .split(delimiter)
      .filter(Boolean)
      .map((path) => resolve(path)),
  )
  .refine((paths) => paths.every(isFolder), { error: 'must name folders that exist' });

const listOf = (isOne: (text: string) => boolean, error: string) =>
  z
    .string()
    .transform((list) => list.split(',').map((text) => text.trim()))
    .refine((texts) => texts.every(isOne), { error });

/** Refuses `true` and numbers, because Express would then trust proxies at every address. */
export const proxies = listOf(
  (text) => NAMED_NETWORKS.includes(text) || isNetwork(text),
  'must list addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, separated by commas',
);

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(text: string): boolean {
  const address = text.replace(/\/[1-9]\d*$/, '');
  return isIP(address) !== 0 && !address.includes('%') && (address === text || ipaddr.isValidCIDR(text));
}

export const networks = listOf(isNetwork, 'must list addresses or networks such as 10.0.0.0/8, separated by commas');

/** Accepts origins as browsers send them. */
export const webOrigins = z
  .string()
  .refine((list) => !list.includes('*'), { error: 'must name each origin: * would let the pages of any site call' })
  .pipe(listOf(isOrigin, 'must list origins such as https://app.example.com, without a path, separated by commas'));

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Accepts hosts and normalizes them as `URL` does, so that they can be compared with the host of a URL. */
export const engineHosts = listOf(
  (text) => text.includes('*') || hostAsInUrl(text) !== null,
  'must list hosts such as gpu.internal, 10.0.0.7:8000, [::1] or *.models.svc.cluster.local, separated by commas',
)
  .refine((hosts) => hosts.every((text) => !text.includes('*') || hostPattern(text) !== null), {
    error: 'may have a * only at the beginning of a host, as *. before a name of two labels or more',
  })
  .transform((hosts) => hosts.map((text) => hostPattern(text) ?? hostAsInUrl(text) ?? text));

/**
 * Returns the normal form of `*.name` or `*.name:port`, or null for any other text. The name needs two labels, because
 * one label, such as `com` or `local`, would allow the hosts of strangers. An address cannot be the name.
 */
function hostPattern(text: string): string | null {
  const name = text.startsWith('*.') ? hostAsInUrl(text.slice(2)) : null;
  const [host = ''] = name?.split(':') ?? [];
  return /^[a-z\d-]+(\.[a-z\d-]+)+$/.test(host) && isIP(host) === 0 ? `*.${name}` : null;
}

/** Returns `host` or `host:port` as a URL writes it, or null for any other text. */
export function hostAsInUrl(text: string): string | null {
  const [, host, port] = /^(\[[\da-f:.]+\]|[^\s:/?#@*[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (!host || !URL.canParse(`http://${text}`) || Number(port) === 0) return null;
  const { hostname } = new URL(`http://${host}`);
  return port ? `${hostname}:${Number(port)}` : hostname;
}
