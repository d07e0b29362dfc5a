import type { RequestHandler } from 'express';

/** A step of your own, which every request takes (CONTRIBUTING.md, "Recipe: add a middleware"). */
export abstract class Middleware {
  /** Ordinary Express middleware. `request.context` has the request id, and the caller once the credential is checked. */
  abstract readonly handle: RequestHandler;
}
