import type { IncomingMessage, ServerResponse } from 'node:http';
import { modelBusy, RequestError } from './request-error.js';

/** The memory that the bodies of all unanswered requests may use. */
const MAX_TOTAL_BYTES = 256 * 1_024 * 1_024;
/** A multiple of the size of every element. */
const ALIGNMENT = 8;

/** Reads request bodies into bounded memory. */
export class BodyReader {
  private heldBytes = 0;

  /** `limit` is the largest body, in bytes. */
  constructor(private readonly limit: number) {}

  /**
   * Reads the body into memory of its own, with the byte at `alignedAt` aligned for numbers. The body counts as held
   * until the response closes. Throws a RequestError.
   */
  read(request: IncomingMessage, response: ServerResponse, alignedAt: number): Promise<Uint8Array> {
    if (Number(request.headers['content-length'] ?? 0) > this.limit) throw this.tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    response.once('close', () => {
      this.heldBytes -= size;
    });
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        request.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
        action();
      };
      const onData = (chunk: Buffer) => {
        const error = this.refusal(size + chunk.length, chunk.length);
        if (error) return settle(() => reject(error));
        size += chunk.length;
        this.heldBytes += chunk.length;
        chunks.push(chunk);
      };
      const onEnd = () => settle(() => resolve(concatenated(chunks, size, alignedAt)));
      const onClose = () => settle(() => reject(new RequestError('bad_request', 'The body was cut off.')));
      request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
    });
  }

  private refusal(size: number, more: number): RequestError | null {
    if (size > this.limit) return this.tooLarge();
    return this.heldBytes + more > MAX_TOTAL_BYTES ? modelBusy('Too much data waits for the model.') : null;
  }

  private tooLarge(): RequestError {
    return new RequestError('payload_too_large', `The body is over the limit of ${this.limit} bytes.`);
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
