import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler, Response } from 'express';
import { injectable } from 'inversify';
import { DomainError } from '../../domain/shared/errors.js';
import { refuse } from './middleware/error-handler.js';

export class ShuttingDown extends DomainError {
  constructor() {
    super('unavailable', 'shutting_down', 'The service is ending: try again shortly.', { retryAfterSeconds: 1 });
  }
}

/** Connections are closed once nothing is in flight and no request has come for so long. */
const QUIET_MS = 300;

/** Senders may use so much of the time for the drain to complete their requests. */
const ARRIVAL_SHARE = 0.5;

/**
 * Ends HTTP without failing a call. `announce` only says that the service is not ready any more; from `begin` on, calls
 * that are in flight finish and new ones get 503.
 */
@injectable()
export class GracefulShutdown {
  private announced = false;
  private ending = false;
  private readonly inFlight = new Set<Response>();
  private requestCount = 0;

  /** Every answer from now on is the last of its connection, so that callers go elsewhere for the next. */
  announce(): void {
    this.announced = true;
    for (const response of this.inFlight) response.shouldKeepAlive = false;
  }

  begin(): void {
    this.ending = true;
    this.announce();
  }

  /** Throws ShuttingDown as soon as the end is announced. */
  check(): void {
    if (this.announced) throw new ShuttingDown();
  }

  /** Goes before everything that takes time: a call that came before the end is in flight and will be served. */
  readonly track: RequestHandler = (request, response, next) => {
    this.requestCount++;
    this.inFlight.add(response);
    if (this.announced) response.shouldKeepAlive = false;
    request.context.tooLate = this.ending;
    response.once('close', () => this.inFlight.delete(response));
    next();
  };

  readonly refuseLate: RequestHandler = (request, _response, next) => {
    if (request.context.tooLate) throw new ShuttingDown();
    next();
  };

  get requestsInFlight(): number {
    return this.inFlight.size;
  }

  /** Stops accepting. Resolves when every connection is closed; after `graceMs` it closes those that are left. */
  async drain(server: Server, graceMs: number): Promise<void> {
    // `http.Server.close` would reset idle connections whose next request is on its way. They get 503 instead.
    const drained = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    this.begin();
    let seen = this.requestCount;
    const closeIfQuiet = async () => {
      await nextTurn(); // reads the requests that arrived meanwhile
      if (this.inFlight.size === 0 && this.requestCount === seen) server.closeAllConnections();
      seen = this.requestCount;
    };
    const quiet = setInterval(closeIfQuiet, QUIET_MS);
    const unsent = setTimeout(() => this.refuseUnsent(), graceMs * ARRIVAL_SHARE);
    const enough = setTimeout(() => server.closeAllConnections(), graceMs);
    await drained;
    for (const timer of [quiet, unsent, enough]) clearTimeout(timer);
    server.close(() => undefined); // ends Node's own checks of connections
  }

  private refuseUnsent(): void {
    for (const response of this.inFlight) if (!response.req.complete) refuse(response, new ShuttingDown());
  }
}
