import type { Server } from 'node:http';
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import type { Container } from 'inversify';
import { Authenticator } from '../application/accounts/authenticator.js';
import { RateLimitStore, StorageProbe } from '../application/operations/ports.js';
import { MemoryBudget } from '../application/shared/memory-budget.js';
import { Clock, IdGenerator, Logger, RequestContext, Tracer } from '../application/shared/ports.js';
import { InstanceOutdated } from '../domain/shared/errors.js';
import { PrometheusMetrics } from '../infrastructure/prometheus/prometheus-metrics.js';
import { asRefusal, mayBeOfChangedTables } from '../infrastructure/typeorm/storage-errors.js';
import { createApp, Middleware } from '../interfaces/http/app.js';
import { bodyLimits } from '../interfaces/http/body.js';
import { controllers } from '../interfaces/http/controllers.js';
import { CallWatch } from '../interfaces/http/middleware/call-watch.js';
import { createHttpServer, GracefulShutdown } from '../interfaces/http/server.js';
import type { Config } from './config/config.js';

/** Creates the Express app from the container. */
export const httpApp = (container: Container, config: Config) =>
  createApp({
    controllers: controllers.map((controller) => container.get(controller)),
    // Not `isBound`, which is true for every class.
    teamMiddleware: container.isCurrentBound(Middleware) ? container.getAll(Middleware) : [],
    authenticator: container.get(Authenticator),
    requests: container.get(RequestContext),
    clock: container.get(Clock),
    ids: container.get(IdGenerator),
    logger: container.get(Logger),
    translate: refusalIn(container),
    store: container.get(RateLimitStore),
    limits: config.rateLimits,
    metrics: container.get(PrometheusMetrics),
    tracer: container.get(Tracer),
    shutdown: container.get(GracefulShutdown),
    memory: container.get(MemoryBudget),
    watch: container.get(CallWatch),
    bodyLimits: { ...bodyLimits, model: config.modelBodyBytes, dataset: config.datasetImportBytes },
    stallMs: config.inferenceTimeoutMs,
    spoolFolder: config.dataDir,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    allowedHosts: allowedHosts(config),
  });

/** Translates failures of the database. Asks the database whether a newer version has changed the tables. */
const refusalIn = (container: Container) => async (error: unknown) => {
  if (!mayBeOfChangedTables(error)) return asRefusal(error);
  const outdated = await container
    .get(StorageProbe)
    .check()
    .catch((reason: unknown) => reason);
  return outdated instanceof InstanceOutdated ? outdated : asRefusal(error);
};

/** Creates the HTTP server of the app. `node` has options of Node's server, such as time-outs. */
export const httpServer = (
  app: ReturnType<typeof createApp>,
  container: Container,
  config: Config,
  node?: object,
): Server =>
  createHttpServer(app, {
    nextRequestId: () => container.get(IdGenerator).next('req'),
    maxConnections: config.maxConnections,
    isProxy: (address) => app.get('trust proxy fn')(address, 0),
    logger: container.get(Logger),
    node,
  });

const EVERYWHERE = new Set(['0.0.0.0', '::']);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

/** Returns a URL that reaches the listening address from this machine. */
export function baseUrlOf(host: string, port: number): string {
  const reachable = EVERYWHERE.has(host) ? '127.0.0.1' : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns the setting or the host name. With DATABASE_URL, instances can share a host, so the port is added. */
export const instanceName = ({ instanceName: name, databaseUrl }: Config, port: number): string =>
  name ?? (databaseUrl ? `${hostname()}:${port}` : hostname());

/**
 * Returns the allowed host names besides loopback names, or null if all are allowed. A service on loopback refuses
 * other names, because a page on the web can let its own name resolve to loopback (DNS rebinding).
 */
function allowedHosts({ host, baseUrl }: Config): readonly string[] | null {
  if (!LOOPBACK.test(host)) return null;
  return baseUrl ? [new URL(baseUrl).hostname] : [];
}

/** Tells whether strangers can reach the service and register. */
export const openToAll = ({ host, registration }: Config): boolean => registration === 'open' && !LOOPBACK.test(host);
