import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import type { Config } from './config/config.js';

const EVERYWHERE = new Set(['0.0.0.0', '::']);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Returns the URL of a listening address, as this machine reaches it. */
export function baseUrlOf(host: string, port: number): string {
  const reachable = EVERYWHERE.has(host) ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns the name of this instance: the setting, or the host with the port where several instances may share it. */
export const instanceName = ({ instanceName: name, databaseUrl }: Config, port: number): string =>
  name ?? (databaseUrl ? `${hostname()}:${port}` : hostname());

/**
 * Returns the host names that are answered besides loopback names; null for all. On loopback others are refused, since a
 * page on the web can have its own name resolved to loopback (DNS rebinding).
 */
export const allowedHosts = ({ host, baseUrl }: Config): readonly string[] | null =>
  LOOPBACK.test(host) ? (baseUrl ? [new URL(baseUrl).hostname] : []) : null;

/** Returns true if strangers can reach the service and register. */
export const openToAll = ({ host, registration }: Config): boolean =>
  registration.registration === 'open' && !LOOPBACK.test(host);
