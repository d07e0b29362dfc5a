import type { RequestListener, ServerResponse } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import proxyAddress from 'proxy-addr';
import type { IdentifyCaller } from '../../application/accounts/identify-caller.js';
import type { Clock, IdGenerator, Logger, RequestContext } from '../../application/shared/ports.js';
import { NotFound } from '../../domain/shared/errors.js';
import { mountPages } from '../web/pages.js';
import { admission, masterAdmission } from './admission.js';
import type { Controller } from './contract.js';
import { crossOrigin } from './cross-origin.js';
import type { Drain } from './drain.js';
import { answer, Exchange, JSON_TYPE } from './exchange.js';
import { HttpRefusal } from './http-refusal.js';
import { type HttpWatch, watching } from './http-watch.js';
import { mount } from './mount.js';
import { handOver } from './peers/hand-over.js';
import { isFromPeer, mountPeers, type PeerParts } from './peers/peers.js';
import { type Problem, problemOf } from './problem.js';
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
  readonly requests: RequestContext;
  readonly peers: PeerParts;
  readonly ids: IdGenerator;
  readonly clock: Clock;
  readonly log: Logger;
  readonly watch: HttpWatch;
  /** Makes a refusal of an adapter's failure where it is one that callers are told of; gives back anything else. */
  readonly translate: (error: unknown) => unknown;
}

const OWN_REQUEST_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The declared routes are answered straight on Node's HTTP, since Express costs more than all else that is done for a
 * short call; what is for people and for other processes is Express's.
 */
export function createHttpApp(parts: HttpParts): RequestListener {
  const { controllers, identifyCaller, drain, peers, watch, ids } = parts;
  const routes = controllers.flatMap((controller) => controller.routes);
  const trust = proxyAddress.compile([...parts.trustedProxies]);
  const addressOf = (request: Exchange['request']) => proxyAddress(request, trust);
  const desk = () => ({ identifyCaller, watch, addressOf, limiter: new RateLimiter(parts.limits, parts.clock) });
  const admit = admission(desk(), ({ request }) => isFromPeer(peers, request));
  const admitMaster = masterAdmission(desk());
  const goesOn = crossOrigin(parts.corsOrigins);
  const wayOf = mount(routes, handOver(peers));
  const traced = tracing(parts, watching(watch, routes));
  const others = otherPaths(parts);

  async function serve(exchange: Exchange): Promise<void> {
    secure(exchange);
    const way = wayOf(exchange);
    if (exchange.isBelow('/v1')) {
      drain.note(exchange);
      if (!goesOn(exchange)) return;
      await admit(exchange);
      drain.guard(exchange);
    } else if (exchange.isBelow('/metrics')) await admitMaster(exchange);
    const answered = way.answer();
    if (answered) await answered;
    else others(exchange.request, exchange.response);
  }

  return (request, response) => {
    const own = String(request.headers['x-request-id'] ?? '');
    const exchange = new Exchange(request, response, OWN_REQUEST_ID.test(own) ? own : ids.next('req'));
    traced(exchange, () => {
      serve(exchange).catch((error: unknown) => refuse(parts, response, error));
    });
  };
}

/** An answer is watched from many sides, the pipeline of a streamed one among them; Node warns from the eleventh on. */
const MOST_LISTENERS = 20;

/** Puts the id of the request on its answer and on every log line that belongs to it, and logs how it went. */
const tracing =
  ({ clock, log, requests }: HttpParts, watched: (exchange: Exchange) => void) =>
  (exchange: Exchange, work: () => void): void => {
    const { response, requestId, method, path } = exchange;
    response.setMaxListeners(MOST_LISTENERS);
    watched(exchange);
    response.setHeader('X-Request-Id', requestId);
    const begun = clock.now();
    response.once('close', () => {
      if (isProbe(exchange)) return;
      const ms = clock.now().getTime() - begun.getTime();
      const status = response.writableFinished ? response.statusCode : 'gone';
      // The connection may be what closes, and that is not within the request.
      log.info('request', { request_id: requestId, method, path: path.slice(0, 200), status, ms });
    });
    requests.within(requestId, () => log.within({ request_id: requestId }, work));
  };

/** What machines ask again and again. */
const isProbe = ({ path }: Exchange): boolean => path.startsWith('/health/') || path === '/metrics';

function secure(exchange: Exchange): void {
  const { request, response, path } = exchange;
  if (request.httpVersion === '1.1' && !request.headers.host) {
    throw new HttpRefusal('bad_request', 'The request has no Host header.', { Connection: 'close' });
  }
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  if (path.startsWith('/v1/') || isProbe(exchange)) response.setHeader('Cache-Control', 'no-store');
}

/** The pages, and what processes of the service ask each other. */
function otherPaths(parts: HttpParts): RequestListener {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
  mountPeers(app, parts.peers);
  mountPages(app);
  app.use((request: Request) => {
    throw new NotFound(`route as ${request.method} ${request.path.slice(0, 200)}`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) =>
    refuse(parts, response, error),
  );
  return app;
}

function refuse({ translate, log }: HttpParts, response: ServerResponse, error: unknown): void {
  const known = error instanceof URIError ? new NotFound() : translate(error);
  const problem = problemOf(known, String(response.getHeader('X-Request-Id')));
  if (response.destroyed) return;
  if (problem.unexpected) log.error('unexpected failure', { error });
  if (response.headersSent) response.destroy();
  else tell(response, problem);
}

function tell(response: ServerResponse, { status, headers, body }: Problem): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  try {
    answer(response, status, JSON_TYPE, JSON.stringify(body));
  } catch (error) {
    // What cannot be written as JSON is a failure of our own.
    const { status, body: ours } = problemOf(error, body.request_id);
    answer(response, status, JSON_TYPE, JSON.stringify(ours));
  }
}
