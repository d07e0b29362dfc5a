import type { IncomingMessage } from 'node:http';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { HttpRefusal } from './http-refusal.js';
import { firstUnstorable, nestedTooDeep } from './json-rules.js';

/** The largest body, in bytes, of each sort of endpoint. */
export const bodyLimits = {
  ordinary: 100 * 1024,
  spec: 256 * 1024,
  chat: 1024 * 1024,
  dataset: 5 * 1024 * 1024,
} as const;
export type BodyLimit = keyof typeof bodyLimits;

/**
 * The JSON value of a request's body, checked for all that no schema needs to know of.
 * Throws unsupported_media_type, payload_too_large, malformed_json, InvalidRequest.
 */
export async function readJson(request: IncomingMessage, limit: BodyLimit): Promise<unknown> {
  requireJson(request);
  const text = decoded(await readBytes(request, bodyLimits[limit]));
  const tooDeep = nestedTooDeep(text);
  if (tooDeep) throw new InvalidRequest([{ path: '', message: tooDeep }]);
  const value = parsed(text);
  const unstorable = firstUnstorable(value);
  if (unstorable) throw new InvalidRequest([unstorable]);
  return value;
}

function requireJson({ headers }: IncomingMessage): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  const coding = headers['content-encoding'] ?? 'identity';
  const isJson = /^application\/([\w.+-]+\+)?json$/.test(type.trim());
  const isUtf8 = !charset || /^charset="?utf-?8"?$/.test(charset);
  if (isJson && isUtf8 && coding.toLowerCase() === 'identity') return;
  throw new HttpRefusal('unsupported_media_type', 'Send the body as application/json in UTF-8, not compressed.', {
    Accept: 'application/json',
  });
}

async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new HttpRefusal('payload_too_large', `The body is over the limit of ${limit} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Not a `for await`: leaving one destroys the request, and with it the way back for the answer.
  return new Promise((resolve, reject) => {
    const leave = (settle: () => void) => {
      request.off('data', take).off('end', end).off('error', fail).off('close', fail);
      settle();
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) leave(() => reject(tooLarge()));
      else chunks.push(chunk);
    };
    const end = () => leave(() => resolve(Buffer.concat(chunks)));
    const fail = () => leave(() => reject(new HttpRefusal('bad_request', 'The body was cut off.')));
    request.on('data', take).on('end', end).on('error', fail).on('close', fail);
  });
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new HttpRefusal('malformed_json', 'The body is not UTF-8.');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own words, without the piece of the body that it quotes.
    const where = /at position \d+/.exec((error as Error).message)?.[0];
    const what = text.trim() === '' ? 'The body is empty; send a JSON object.' : 'The body is not JSON';
    throw new HttpRefusal('malformed_json', where ? `${what}: unexpected text ${where}.` : what);
  }
}
