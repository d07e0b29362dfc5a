import { isIP } from 'node:net';
import { z } from 'zod';

const listOf = (isOne: (text: string) => boolean, error: string) =>
  z
    .string()
    .transform((list) => list.split(',').map((text) => text.trim()))
    .refine((texts) => texts.every(isOne), { error });

/** Whose word on a caller's address is believed. `true` or a number would have Express believe anybody's. */
export const proxies = listOf(
  (text) => NAMED_NETWORKS.includes(text) || isNetwork(text),
  'must list addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, separated by commas',
);

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export const networks = listOf(isNetwork, 'must list addresses or networks such as 10.0.0.0/8, separated by commas');

/** Origins exactly as browsers send them. */
export const webOrigins = z
  .string()
  .refine((list) => !list.includes('*'), { error: 'must name each origin: * would let the pages of any site call' })
  .pipe(listOf(isOrigin, 'must list origins such as https://app.example.com, without a path, separated by commas'));

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Hosts as a URL writes them, so that one can be compared with the other. */
export const engineHosts = listOf(
  (text) => hostAsInUrl(text) !== null,
  'must list hosts such as gpu.internal, 10.0.0.7:8000 or [::1], separated by commas',
).transform((hosts) => hosts.map((text) => hostAsInUrl(text) ?? text));

function hostAsInUrl(text: string): string | null {
  const [, host, port] = /^(\[[\da-f:.]+\]|[^\s:/?#@*[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (!host || !URL.canParse(`http://${text}`) || Number(port) === 0) return null;
  const { hostname } = new URL(`http://${host}`);
  return port ? `${hostname}:${Number(port)}` : hostname;
}
