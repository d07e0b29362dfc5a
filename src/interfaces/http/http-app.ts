import express, { type Express, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import type { IdentifyCaller } from '../../application/access/identify-caller.js';
import type { Clock } from '../../application/shared/ports/clock.js';
import type { CurrentRequest } from '../../application/shared/ports/current-request.js';
import type { Identifiers } from '../../application/shared/ports/identifiers.js';
import type { Log } from '../../application/shared/ports/log.js';
import { NotFound } from '../../domain/shared/errors.js';
import { mountPages } from '../web/pages.js';
import { admission, masterAdmission } from './admission.js';
import type { Controller } from './contract.js';
import { crossOrigin } from './cross-origin.js';
import type { Drain } from './drain.js';
import { HttpRefusal } from './http-refusal.js';
import { type HttpWatch, watching } from './http-watch.js';
import { mount } from './mount.js';
import { handOver } from './peers/hand-over.js';
import { isFromPeer, mountPeers, type PeerParts } from './peers/peers.js';
import { type Envelope, problemOf } from './problem.js';
import { type Limits, RateLimiter } from './rate-limit/rate-limiter.js';

export interface HttpParts {
  readonly controllers: readonly Controller[];
  readonly identifyCaller: IdentifyCaller;
  readonly drain: Drain;
  readonly limits: Limits;
  /** Whose word on the caller's address is believed: addresses, networks, or Express's names for some. */
  readonly trustedProxies: readonly string[];
  /** The web origins whose pages may call the API. */
  readonly corsOrigins: readonly string[];
  readonly requests: CurrentRequest;
  readonly peers: PeerParts;
  readonly ids: Identifiers;
  readonly clock: Clock;
  readonly log: Log;
  readonly watch: HttpWatch;
  /** Makes a refusal of an adapter's failure where it is one that callers are told of; gives back anything else. */
  readonly translate: (error: unknown) => unknown;
}

const OWN_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

export function createHttpApp(parts: HttpParts): Express {
  const { controllers, identifyCaller, drain, peers, watch } = parts;
  const routes = controllers.flatMap((controller) => controller.routes);
  const limiter = () => new RateLimiter(parts.limits, parts.clock);
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  app.set('trust proxy', parts.trustedProxies);
  app.use(traced(parts, watching(watch, routes)), secured);
  const admitted = admission(identifyCaller, limiter(), watch, (request) => isFromPeer(peers, request));
  const first = [drain.noted, crossOrigin(parts.corsOrigins), admitted, drain.guard];
  app.use(...first.map((handler) => below('/v1', handler)));
  app.use(below('/metrics', masterAdmission(identifyCaller, limiter(), watch)));
  mount(app, routes, handOver(peers));
  mountPeers(app, peers);
  mountPages(app);
  app.use((request: Request) => {
    throw new NotFound(`route as ${request.method} ${request.path.slice(0, 200)}`);
  });
  app.use(refused(parts));
  return app;
}

/** An answer is watched from many sides, the pipeline of a streamed one among them; Node warns from the eleventh on. */
const MOST_LISTENERS = 20;

/** Gives the request its id, on its answer and on every log line that belongs to it, and logs how it went. */
const traced =
  ({ ids, clock, log, requests }: HttpParts, watched: (request: Request, response: Response) => void) =>
  (request: Request, response: Response, next: NextFunction): void => {
    response.setMaxListeners(MOST_LISTENERS);
    watched(request, response);
    const own = request.get('x-request-id') ?? '';
    const requestId = OWN_REQUEST_ID.test(own) ? own : ids.next('req');
    response.set('X-Request-Id', requestId);
    const begun = clock.now();
    const within = (work: () => void) => requests.within(requestId, () => log.within({ request_id: requestId }, work));
    within(() => {
      response.once('close', () => {
        if (isProbe(request)) return;
        const ms = clock.now().getTime() - begun.getTime();
        const status = response.writableFinished ? response.statusCode : 'gone';
        // The connection may be what closes, and that is not within the request.
        log.info('request', {
          request_id: requestId,
          method: request.method,
          path: request.path.slice(0, 200),
          status,
          ms,
        });
      });
      next();
    });
  };

/** The root and all that is below it. Express would cut the root off the URL for each handler, and put it back. */
const below =
  (root: string, handler: RequestHandler): RequestHandler =>
  (request, response, next) =>
    request.path === root || request.path.startsWith(`${root}/`) ? handler(request, response, next) : next();

/** What machines ask again and again. */
const isProbe = ({ path }: Request): boolean => path.startsWith('/health/') || path === '/metrics';

const secured = (request: Request, response: Response, next: NextFunction): void => {
  if (request.httpVersion === '1.1' && !request.headers.host) {
    throw new HttpRefusal('bad_request', 'The request has no Host header.', { Connection: 'close' });
  }
  response.set({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
  if (request.path.startsWith('/v1/') || isProbe(request)) response.set('Cache-Control', 'no-store');
  next();
};

const refused =
  ({ translate, log }: HttpParts) =>
  (error: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    const known = error instanceof URIError ? new NotFound() : translate(error);
    const { status, headers, body, unexpected } = problemOf(known, String(response.get('X-Request-Id')));
    if (response.destroyed) return;
    if (unexpected) log.error('unexpected failure', { error });
    if (response.headersSent) response.destroy();
    else answer(response.status(status).set(headers), body);
  };

/** Whatever cannot be written as JSON is told as a failure of our own, never by Express's page about it. */
function answer(response: Response, body: Envelope): void {
  try {
    response.json(body);
  } catch (error) {
    const { status, body: ours } = problemOf(error, body.request_id);
    response.status(status).json(ours);
  }
}
