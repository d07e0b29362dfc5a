import express, { type Express, type RequestHandler } from 'express';
import type { Clock } from '../../application/shared/ports.js';
import { pages } from '../web/pages.js';
import { OPENAI } from './chat/openai/openai-errors.js';
import type { Controller } from './contract.js';
import { authenticate, readCredential } from './middleware/authenticate.js';
import { lingeringClose, slowClients } from './middleware/connections.js';
import { type ErrorHandlerDependencies, errorHandler, notFound } from './middleware/error-handler.js';
import { accessLog, type Observers, observeRequests } from './middleware/observability.js';
import {
  guessKey,
  type RateLimitDependencies,
  RecentCallers,
  rateLimit,
  rateLimitGuesses,
  refuseBeforeLookup,
} from './middleware/rate-limit.js';
import type { ReadBodyDependencies } from './middleware/read-body.js';
import { type RequestContextDependencies, requestContext } from './middleware/request-context.js';
import { crossOrigin, hostCheck, securityHeaders } from './middleware/security.js';
import type { ValidateDependencies } from './middleware/validate.js';
import { contractRoutes } from './routes.js';
import type { GracefulShutdown } from './server.js';

export interface HttpDependencies
  extends RequestContextDependencies,
    ErrorHandlerDependencies,
    ReadBodyDependencies,
    ValidateDependencies,
    Observers,
    Omit<RateLimitDependencies, 'metrics'> {
  readonly controllers: readonly Controller[];
  readonly shutdown: GracefulShutdown;
  readonly clock: Clock;
  /** Lists the trusted proxies. Express takes the caller's address from their `X-Forwarded-For` header. */
  readonly trustedProxies: readonly string[];
  /** Lists the web origins with pages that may call the API. */
  readonly corsOrigins: readonly string[];
  /** Lists the host names that the service answers for, besides loopback names. Null: it answers for every host. */
  readonly allowedHosts: readonly string[] | null;
  readonly teamMiddleware: readonly Middleware[];
}

/** Adds a step that every request takes (CONTRIBUTING.md, "Recipe: add a middleware"). */
export abstract class Middleware {
  /** Handles a request as any Express middleware does. Runs before `authenticate` sets `request.context.caller`. */
  abstract readonly handle: RequestHandler;
}

/** Lists the paths of the API. They share one rate limit. */
const API = ['/v1', OPENAI];

/** Programs that expect OpenAI's API may end a path with a slash. */
const trailingSlash: RequestHandler = (request, _response, next) => {
  request.url = request.url.replace(/^(\/openai\/v1\/[^?]*[^/?])\/(?=\?|$)/, '$1');
  next();
};

/** Creates the Express app. Each request takes the steps below in their order. */
export function createApp(dependencies: HttpDependencies): Express {
  const { controllers, shutdown, authenticator } = dependencies;
  const contracts = controllers.flatMap(({ routes }) => routes.map(({ contract }) => contract));
  const recentCallers = new RecentCallers();

  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', [...dependencies.trustedProxies]);

  app.use(trailingSlash);
  app.use(requestContext(dependencies));
  app.use(shutdown.track);
  app.use(slowClients());
  app.use(lingeringClose());
  app.use(observeRequests(dependencies, contracts));
  app.use(accessLog(dependencies));
  app.use(securityHeaders());
  app.use(hostCheck(dependencies.allowedHosts));
  for (const { handle } of dependencies.teamMiddleware) app.use(handle);

  const api = express.Router(); // one match of the path for all these steps
  api.use(crossOrigin(dependencies.corsOrigins));
  api.use(readCredential(authenticator));
  api.use(refuseBeforeLookup(dependencies, recentCallers.keyOf));
  api.use(authenticate(authenticator));
  api.use(rateLimit(dependencies, recentCallers));
  api.use(shutdown.refuseLate);
  app.use(API, api);
  app.use('/metrics', readCredential(authenticator), refuseBeforeLookup(dependencies, guessKey));
  app.use('/metrics', authenticate(authenticator), rateLimitGuesses(dependencies));
  app.use(contractRoutes(controllers, dependencies)); // authorize → readBody → validate → controller → respond

  app.use(pages());
  app.use(notFound);
  app.use(errorHandler(dependencies));
  return app;
}
