import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGunzip, createInflate } from 'node:zlib';
import { LENGTH_HEADER } from '../protocol.js';
import type { Answer } from './http-server.js';
import type { InferenceQueue } from './inference-queue.js';
import { invalidRequest, modelBusy, RequestError } from './request-error.js';
import type { ThreadedCodec } from './threads.js';

const JSON_TYPE = /^application\/([\w.+-]+\+)?json *(; *charset="?utf-?8"? *)?$/i;
const BINARY_TYPE = /^application\/octet-stream *$/i;

/** Handles the requests that run the model: reads the body, decodes it, runs the model, and sends the outputs. */
export class Inference {
  constructor(
    private readonly bodies: BodyReader,
    private readonly codec: ThreadedCodec,
    private readonly queue: InferenceQueue,
  ) {}

  /** Throws a RequestError. */
  async run(kind: 'predict' | 'infer', request: IncomingMessage, response: ServerResponse): Promise<Answer> {
    requireType(request, kind);
    requireCoding(request);
    const length = kind === 'infer' ? request.headers[LENGTH_HEADER.toLowerCase()]?.toString() : undefined;
    const jsonLength = length === undefined ? null : parseLength(length);
    const bytes = await this.bodies.read(request, response, jsonLength ?? 0);
    if (jsonLength !== null && jsonLength > bytes.length)
      throw invalidLength(`must be at most the length of the body, ${bytes.length}`);
    const onDisconnect = (callback: () => void) =>
      void (response.destroyed ? callback() : response.once('close', callback));
    const { inputs, format } = await this.codec.decode({ kind, bytes, jsonLength }, onDisconnect);
    const outputs = await this.queue.run(inputs, onDisconnect);
    const body = await this.codec.encode(format, outputs, onDisconnect);
    const { parts } = body;
    if (body.jsonLength === null) return { status: 200, type: 'application/json; charset=utf-8', parts };
    return { status: 200, type: 'application/octet-stream', parts, headers: { [LENGTH_HEADER]: body.jsonLength } };
  }
}

/**
 * Throws a RequestError for an unsupported content type. Clients of the Open Inference Protocol may send no type or
 * `application/octet-stream`, even with JSON alone.
 */
function requireType({ headers }: IncomingMessage, kind: 'predict' | 'infer'): void {
  const type = headers['content-type'];
  const isProtocol = kind === 'infer' && (type === undefined || BINARY_TYPE.test(type));
  if (isProtocol || JSON_TYPE.test(type ?? '')) return;
  const message = 'Send the body as application/json in UTF-8.';
  throw new RequestError('unsupported_media_type', message, { Accept: 'application/json' });
}

const decoders = { gzip: createGunzip, deflate: createInflate } as const;

const codingOf = ({ headers }: IncomingMessage): string => (headers['content-encoding'] ?? 'identity').toLowerCase();

function requireCoding(request: IncomingMessage): void {
  const coding = codingOf(request);
  if (coding === 'identity' || Object.hasOwn(decoders, coding)) return;
  const codings = Object.keys(decoders);
  const message = `Send the body as it is, or compressed by ${codings.join(' or ')}.`;
  throw new RequestError('unsupported_media_type', message, { 'Accept-Encoding': codings.join(', ') });
}

function parseLength(header: string): number {
  const length = Number(header);
  if (/^\d+$/.test(header) && Number.isSafeInteger(length)) return length;
  throw invalidLength('must be a whole number of bytes');
}

const invalidLength = (message: string): RequestError => invalidRequest([{ path: LENGTH_HEADER, message }]);

/** The memory that the bodies of all unanswered requests may use. */
const MAX_TOTAL_BYTES = 256 * 1_024 * 1_024;
/** The size in bytes of the largest element. */
const ALIGNMENT = 8;

export class BodyReader {
  private heldBytes = 0;

  constructor(private readonly limit: number) {}

  /**
   * Reads and decompresses the body into memory of its own. The byte at `alignedAt` is aligned for numbers. The body
   * counts as held until the response closes. Throws a RequestError.
   */
  async read(request: IncomingMessage, response: ServerResponse, alignedAt: number): Promise<Uint8Array> {
    if (Number(request.headers['content-length'] ?? 0) > this.limit) throw this.tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    response.once('close', () => {
      this.heldBytes -= size;
    });
    for await (const chunk of decodedChunks(request)) {
      // A decoder continues after the caller has gone. Its chunks would then count as held for ever.
      if (response.closed) throw cutOff();
      if (size + chunk.length > this.limit) throw this.tooLarge();
      if (this.heldBytes + chunk.length > MAX_TOTAL_BYTES) throw modelBusy('Too much data waits for the model.');
      size += chunk.length;
      this.heldBytes += chunk.length;
      chunks.push(chunk);
    }
    return concatenated(chunks, size, alignedAt);
  }

  private tooLarge(): RequestError {
    return new RequestError('payload_too_large', `The body is over the limit of ${this.limit} bytes.`);
  }
}

const cutOff = (): RequestError => new RequestError('bad_request', 'The body was cut off.');

/** Yields the decompressed body. Leaves the request open, so that a refusal can be sent. Throws a RequestError. */
async function* decodedChunks(request: IncomingMessage): AsyncGenerator<Buffer> {
  const coding = codingOf(request);
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding as keyof typeof decoders]() : null;
  const end = () => void (request.readableEnded || decoder?.destroy());
  request.once('close', end);
  try {
    yield* decoder ? request.pipe(decoder) : request.iterator({ destroyOnReturn: false });
  } catch {
    throw decoder?.errored ? new RequestError('bad_request', `The body is not valid ${coding}.`) : cutOff();
  } finally {
    request.off('close', end);
    if (decoder) request.unpipe(decoder);
  }
}

function concatenated(chunks: readonly Buffer[], size: number, alignedAt: number): Uint8Array {
  const padding = (ALIGNMENT - (alignedAt % ALIGNMENT)) % ALIGNMENT;
  const body = Buffer.allocUnsafeSlow(padding + size).subarray(padding);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
