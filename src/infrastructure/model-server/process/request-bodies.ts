import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './refusal.js';

/** Of all requests that have not been answered. */
const TOTAL_BYTES = 256 * 1_024 * 1_024;
/** A multiple of the size of every element. */
const ALIGNMENT = 8;

/** Reads bodies into memory, of which all together may use so much and no more. */
export class RequestBodies {
  private held = 0;

  constructor(private readonly limit: number) {}

  /**
   * The whole body, in memory of its own; the byte at `aligned` lies where numbers may lie. It counts until the response
   * is over. Throws a Refusal.
   */
  read(request: IncomingMessage, response: ServerResponse, aligned: number): Promise<Uint8Array> {
    if (Number(request.headers['content-length'] ?? 0) > this.limit) throw this.tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    response.once('close', () => {
      this.held -= size;
    });
    return new Promise((resolve, reject) => {
      const leave = (settle: () => void) => {
        request.off('data', take).off('end', end).off('error', fail).off('close', fail);
        settle();
      };
      const take = (chunk: Buffer) => {
        const refusal = this.refusal(size + chunk.length, chunk.length);
        if (refusal) return leave(() => reject(refusal));
        size += chunk.length;
        this.held += chunk.length;
        chunks.push(chunk);
      };
      const end = () => leave(() => resolve(joined(chunks, size, aligned)));
      const fail = () => leave(() => reject(new Refusal('bad_request', 'The body was cut off.')));
      request.on('data', take).on('end', end).on('error', fail).on('close', fail);
    });
  }

  private refusal(size: number, more: number): Refusal | null {
    if (size > this.limit) return this.tooLarge();
    const full = this.held + more > TOTAL_BYTES;
    return full ? new Refusal('model_busy', 'Too much data waits for the model.', { 'Retry-After': '1' }) : null;
  }

  private tooLarge(): Refusal {
    return new Refusal('payload_too_large', `The body is over the limit of ${this.limit} bytes.`);
  }
}

function joined(chunks: readonly Buffer[], size: number, aligned: number): Uint8Array {
  const begin = (ALIGNMENT - (aligned % ALIGNMENT)) % ALIGNMENT;
  const body = Buffer.allocUnsafeSlow(begin + size).subarray(begin);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
