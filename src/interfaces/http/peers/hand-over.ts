import { type IncomingMessage, request as send } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ErrorRequestHandler, Request } from 'express';
import type { ByteStream } from '../../../application/shared/byte-stream.js';
import { RunsElsewhere } from '../../../domain/processes/errors.js';
import { DomainError } from '../../../domain/shared/errors.js';
import type { Contract } from '../contract.js';
import { HttpRefusal } from '../refusals.js';
import { type PeerParts, PROCESS_HEADER } from './peers.js';

/** What of a call matters to the process that gets it, besides the headers that its contract names. */
const PASSED_ON = ['authorization', 'content-type', 'if-match'];
/** What of an answer belongs to the connection that it came on. */
const OWN = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-request-id']);

/**
 * Has the process that runs what is asked for answer the call, as its caller sent it: it looks at the credential again,
 * but does not count the call, which was counted here. Throws the error itself where that process cannot be reached, and
 * for a call that has been handed over already.
 */
export const handOver =
  (parts: PeerParts, contract: Contract): ErrorRequestHandler =>
  async (error, request, response, next) => {
    if (!(error instanceof RunsElsewhere)) return next(error);
    const { body, requestId } = request.context;
    const url = request.get(PROCESS_HEADER) === undefined ? await parts.urlOf(error.process) : null;
    if (url === null) throw error;
    const outgoing = send(new URL(new URL(url).origin + request.originalUrl.replace(ABSOLUTE, '')), {
      method: request.method,
      agent: false, // a kept connection may be closed by the other side just now, and nothing may be asked twice
      headers: {
        ...passedOn(contract, request),
        ...lengthOf(contract, body),
        'X-Request-Id': requestId,
        [PROCESS_HEADER]: parts.keyOf(error.process),
      },
    });
    const giveUp = () => outgoing.destroy();
    response.once('close', giveUp);
    outgoing.setTimeout(parts.timeoutMs, giveUp);
    const answer = await answerOf(outgoing, contentOf(contract, body)).catch((failure: unknown) => {
      throw failure instanceof HttpRefusal || failure instanceof DomainError ? failure : error;
    });
    response.status(answer.statusCode ?? 502).set(headersOf(answer));
    await pipeline(answer, response).catch(() => response.destroy());
  };

/** The host of a whole URL as the target means nothing here. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

async function answerOf(outgoing: ReturnType<typeof send>, content: Readable | null): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).on('error', reject);
    content?.once('error', reject); // first, so that this is the reason
    outgoing.once('close', () => reject(new Error('the connection ended')));
  });
  answered.catch(() => undefined);
  if (!content) outgoing.end();
  // A refusal may come before all of the body was read: then the rest has nowhere to go, and the answer counts.
  else pipeline(content, outgoing).catch(() => undefined);
  return answered;
}

function passedOn(contract: Contract, request: Request): Record<string, string> {
  const names = [...PASSED_ON, ...Object.keys(contract.headers ?? {})];
  const given = names.map((name) => [name, request.get(name)]);
  return Object.fromEntries(given.filter(([, value]) => value));
}

const textOf = (contract: Contract, body: unknown): string | null =>
  contract.body && !contract.streamed ? JSON.stringify(body) : null;

function contentOf(contract: Contract, body: unknown): Readable | null {
  const text = textOf(contract, body);
  if (text !== null) return Readable.from([Buffer.from(text)]);
  return contract.streamed ? Readable.from((body as ByteStream).chunks, { objectMode: false }) : null;
}

function lengthOf(contract: Contract, body: unknown): Record<string, string> {
  const text = textOf(contract, body);
  const length = text === null ? (contract.streamed ? (body as ByteStream).length : 0) : Buffer.byteLength(text);
  return length === null ? {} : { 'Content-Length': String(length) };
}

/** The limits of the caller are those that this process counts. */
const headersOf = ({ headers }: IncomingMessage): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (header): header is [string, string | string[]] => header[1] !== undefined && !OWN.has(header[0]),
    ),
  );
