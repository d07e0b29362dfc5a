import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { json, type Request, type Response, Router } from 'express';
import type { AnswerProcesses } from '../../../application/processes/answer-processes.js';
import { DomainError, NotFound } from '../../../domain/shared/errors.js';

/** Carries the key of the process that is called, from another process of the service. */
export const PROCESS_HEADER = 'x-tenon-process';

export interface PeerParts {
  readonly answer: AnswerProcesses;
  /** This process's number. */
  readonly number: number;
  /** The key of a process, by its number: known to those who share the secret. */
  readonly keyOf: (process: number) => string;
  /** Where a process is reached just now; null where it is not, or where nobody knows. */
  readonly urlOf: (process: number) => Promise<string | null>;
  /** How long one may take to answer what is handed over to it. */
  readonly timeoutMs: number;
}

/** Whether the call comes from another process of the service. */
export function isFromPeer({ keyOf, number }: PeerParts, { headers }: IncomingMessage): boolean {
  const header = headers[PROCESS_HEADER];
  if (typeof header !== 'string') return false;
  const [given, own] = [Buffer.from(header), Buffer.from(keyOf(number))];
  return given.length === own.length && timingSafeEqual(given, own);
}

function requirePeer(parts: PeerParts, request: Request): void {
  if (!isFromPeer(parts, request)) throw new NotFound(`route as ${request.method} ${request.path}`);
}

/** A refusal is told as it is; whatever else fails is for this process's own log. */
function refusal(error: unknown) {
  if (!(error instanceof DomainError)) throw error;
  const { kind, code, message, advice } = error;
  return { refusal: { kind, code, message, advice } };
}

/** A record of a dataset and a system prompt, with all that JSON does to them. */
const MOST_OF_A_CALL = '16mb';

const idsOf = ({ query }: Request) => (typeof query.ids === 'string' ? query.ids.split(',').filter(Boolean) : []);

/** What processes of the service ask each other. For everybody else there are no such routes. */
export function peerRoutes(parts: PeerParts): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const { answer } = parts;
  const own =
    (handle: (ids: readonly string[]) => Promise<unknown>) => async (request: Request, response: Response) => {
      requirePeer(parts, request);
      response.json(await handle(idsOf(request)));
    };
  router.get(
    '/processes/states',
    own((ids) => answer.states(ids)),
  );
  router.post(
    '/processes/complete',
    (request, _response, next) => {
      requirePeer(parts, request);
      next();
    },
    json({ limit: MOST_OF_A_CALL }),
    async (request: Request, response: Response) => {
      const gone = new AbortController();
      response.once('close', () => gone.abort(new Error('the process that asked went away')));
      response.json(await answer.complete(request.body, gone.signal).catch(refusal));
    },
  );
  router.post(
    '/processes/settle',
    own(async (ids) => {
      await Promise.all(ids.map((id) => answer.settle(id)));
      return { settled: true };
    }),
  );
  return router;
}
