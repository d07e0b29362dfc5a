import type { Request, RequestHandler, Response } from 'express';
import type { Authenticator } from '../../../application/accounts/authenticator.js';
import { type MemoryBudget, parsedBytes } from '../../../application/shared/memory-budget.js';
import type { ByteStream } from '../../../application/shared/ports.js';
import { InvalidRequest } from '../../../domain/shared/errors.js';
import {
  announcedLength,
  type BodyLimit,
  type BodyLimits,
  cutOff,
  decoded,
  formOf,
  isBodyless,
  limitOf,
  requireOctets,
  requireTensors,
  requireWithin,
  sendContinue,
  tooLarge,
} from '../body.js';
import type { Contract } from '../contract.js';
import { parseBody, readForm } from '../json-body.js';
import { SpooledBody } from '../spooled-body.js';
import { authorizeAgain } from './authenticate.js';
import { flowing, unlessStalled } from './connections.js';
import { reservationOf } from './memory.js';

export interface ReadBodyDependencies {
  readonly memory: MemoryBudget;
  readonly authenticator: Authenticator;
  readonly bodyLimits: BodyLimits;
  /** A sender of a long body may pause for this time. */
  readonly stallMs: number;
  /** The folder for long bodies, which are read in parts. */
  readonly spoolFolder: string;
}

/**
 * Reads the body as the contract says: as JSON, in another form, or as a stream that the use case reads itself. Does
 * not call `next` if the request was refused meanwhile because its body arrived too slowly.
 */
export const readBody =
  (contract: Contract, dependencies: ReadBodyDependencies): RequestHandler =>
  async (request, response, next) => {
    const { bodyOptional, media, streamed } = contract;
    if (media || streamed) request.context.body = stream(contract, dependencies, request, response);
    else if (bodyOptional && isBodyless(request)) request.context.body = {};
    else request.context.body = await read(contract, dependencies, request, response);
    if (!response.headersSent) next();
  };

/** A body that is read in parts goes through a file if it may be longer. */
const MOST_IN_MEMORY = 5 * 1024 * 1024;

/** Yields the pieces of a body. Throws payload_too_large beyond the limit. */
async function* within(pieces: AsyncIterable<Uint8Array>, limit: BodyLimit): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (size > limit.bytes) throw tooLarge(limit);
    yield piece;
  }
}

/** Returns the body's value, or an InvalidRequest. `validate` throws it later: a missing object is reported instead. */
async function read(
  contract: Contract,
  { memory, authenticator, bodyLimits, spoolFolder }: ReadBodyDependencies,
  request: Request,
  response: Response,
): Promise<unknown> {
  const limit = limitOf(contract, bodyLimits);
  const form = formOf(request, contract.forms ?? {}) ?? contract.jsonForm;
  requireWithin(request, limit);
  const length = announcedLength(request) ?? limit.bytes;
  const reservation = reservationOf(memory, request, response);
  const isLong = form !== undefined && length > MOST_IN_MEMORY;
  await reservation.reserve(isLong ? MOST_IN_MEMORY : length);
  sendContinue(request, response);
  const bytes = isLong ? null : await readWhole(request, limit);
  const body = bytes ? SpooledBody.of(bytes) : await SpooledBody.inFile(within(flowing(request), limit), spoolFolder);
  if (!bytes) await closeWith(response, body);
  await authorizeAgain(request, contract, authenticator);
  try {
    const { value, values } = form ? await readForm(body, form, contract) : await parseBody(bytes as Buffer, contract);
    reservation.keep(values === null ? null : parsedBytes(length, values));
    return value;
  } catch (error) {
    if (error instanceof InvalidRequest) return error;
    throw error;
  }
}

/** Closes the body when the response closes. Throws bad_request if the response is closed already. */
async function closeWith(response: Response, body: SpooledBody): Promise<void> {
  const close = () => body.close().catch(() => undefined);
  response.once('close', () => void close());
  if (!response.closed) return;
  await close();
  throw cutOff();
}

/** A streamed body is read as one piece if its length is known and is at most this many bytes. */
const WHOLE_STREAM_BYTES = 64 * 1024;

/** Returns the body as a stream that throws 401 or 403 after its last chunk if the caller has lost the permission. */
function stream(
  contract: Contract,
  { authenticator, bodyLimits, stallMs }: ReadBodyDependencies,
  request: Request,
  response: Response,
): ByteStream {
  const limit = limitOf(contract, bodyLimits);
  if (contract.media) requireOctets(request);
  else if (contract.tensors) requireTensors(request);
  else formOf(request, {});
  if (!contract.media) requireWithin(request, limit);
  const body = contract.media
    ? { length: announcedLength(request), chunks: flowing(request) }
    : unlessStalled(decoded(request, limit), stallMs);
  const isShort = !contract.media && body.length !== null && body.length <= WHOLE_STREAM_BYTES;
  async function* chunks() {
    sendContinue(request, response);
    if (isShort) yield await readWhole(request, limit);
    else yield* body.chunks;
    await authorizeAgain(request, contract, authenticator);
  }
  return { length: body.length, chunks: chunks() };
}

/** A body of a known length that is longer is read into its own memory, because joining its pieces would take long. */
const LONG_BYTES = 1024 * 1024;

/**
 * Reads the whole body. Throws payload_too_large beyond the limit, and bad_request if the connection breaks. Drops the
 * pieces before it throws, because the request stays in memory until its connection is free again.
 */
export function readWhole(request: Request, limit: BodyLimit): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const length = announcedLength(request) ?? 0;
    let whole = length > LONG_BYTES && length <= limit.bytes ? Buffer.allocUnsafeSlow(length) : null;
    let pieces: Buffer[] = [];
    let size = 0;
    const leave = () => {
      request.off('data', take).off('end', end).off('error', breakOff).off('close', breakOff);
      pieces = [];
      whole = null;
    };
    const take = (piece: Buffer) => {
      const at = size;
      size += piece.length;
      if (whole) return void piece.copy(whole, at);
      if (size <= limit.bytes) return void pieces.push(piece);
      leave();
      request.pause();
      reject(tooLarge(limit));
    };
    const end = () => {
      resolve(whole?.subarray(0, size) ?? Buffer.concat(pieces));
      leave();
    };
    const breakOff = () => {
      leave();
      reject(cutOff());
    };
    request.on('data', take).once('end', end).once('error', breakOff).once('close', breakOff);
    if (request.destroyed) breakOff();
  });
}
