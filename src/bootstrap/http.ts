import type { Container } from 'inversify';
import { Authenticator } from '../application/accounts/authenticator.js';
import { RateLimitStore } from '../application/operations/ports.js';
import { Clock, IdGenerator, Logger, RequestContext, Tracer } from '../application/shared/ports.js';
import { PrometheusMetrics } from '../infrastructure/prometheus/prometheus-metrics.js';
import { asRefusal } from '../infrastructure/typeorm/storage-errors.js';
import { createApp, Middleware } from '../interfaces/http/app.js';
import { BodyMemory } from '../interfaces/http/body.js';
import { controllers } from '../interfaces/http/controllers.js';
import { GracefulShutdown } from '../interfaces/http/server.js';
import type { Config } from './config/config.js';
import { allowedHosts } from './listening.js';

/** Creates the Express app from the container. */
export const httpApp = (container: Container, config: Config) =>
  createApp({
    controllers: controllers.map((controller) => container.get(controller)),
    teamMiddleware: container.isCurrentBound(Middleware) ? container.getAll(Middleware) : [], // isBound is true of every class
    authenticator: container.get(Authenticator),
    requests: container.get(RequestContext),
    clock: container.get(Clock),
    ids: container.get(IdGenerator),
    logger: container.get(Logger),
    translate: asRefusal,
    store: container.get(RateLimitStore),
    limits: config.rateLimits,
    metrics: container.get(PrometheusMetrics),
    tracer: container.get(Tracer),
    shutdown: container.get(GracefulShutdown),
    bodyMemory: container.get(BodyMemory),
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    allowedHosts: allowedHosts(config),
  });
