import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { ByteStream } from '../../application/shared/byte-stream.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { flowing } from './arrival.js';
import { breath } from './breath.js';
import { HttpRefusal } from './http-refusal.js';
import { firstUnstorable, nestedTooDeep } from './json-rules.js';

/** The largest body, in bytes, of each sort of endpoint. */
export const bodyLimits = {
  ordinary: 100 * 1024,
  spec: 256 * 1024,
  chat: 1024 * 1024,
  dataset: 5 * 1024 * 1024,
  prediction: 64 * 1024 * 1024,
} as const;
export type BodyLimit = keyof typeof bodyLimits;

/** How a body of another media type than JSON is read into the value that the contract's schema describes. */
export interface BodyForm {
  /** An example of such a body. */
  readonly example: string;
  /** Takes UTF-8 without a byte order mark. */
  readonly read: (bytes: Buffer) => Promise<unknown>;
}
export type BodyForms = Readonly<Record<string, BodyForm>>;

export interface BodyRules {
  readonly bodyLimit?: BodyLimit;
  /** Other media types in which the body may come, besides JSON. */
  readonly forms?: BodyForms;
  /** A member of the body in which the use case looks for what cannot be stored, to tell of all of it. */
  readonly judgedLater?: string;
}

/** What is shorter is dealt with before anybody has to wait. */
const LONG = 64 * 1024;

/**
 * The JSON value of a request's body, checked for all that no schema needs to know of. A body may be megabytes: between
 * the steps that each take it whole, other requests get their turn. What is in the member named `judgedLater` may be
 * nothing that can be stored.
 * Throws unsupported_media_type, payload_too_large, malformed_json, InvalidRequest.
 */
export async function readJson(
  request: IncomingMessage,
  { bodyLimit = 'ordinary', forms = {}, judgedLater }: BodyRules,
): Promise<unknown> {
  const form = formOf(request, forms);
  const bytes = await readBytes(request, bodyLimits[bodyLimit]);
  if (bytes.length > LONG) await breath();
  const value = form ? await form.read(utf8(bytes)) : bytes.length > LONG ? await longValue(bytes) : jsonValue(bytes);
  const unstorable = await firstUnstorable(value, judgedLater);
  if (unstorable) throw new InvalidRequest([unstorable]);
  return value;
}

const jsonValue = (bytes: Buffer): unknown => parsed(shallow(bytes));

async function longValue(bytes: Buffer): Promise<unknown> {
  const text = shallow(bytes);
  await breath();
  const value = parsed(text);
  await breath();
  return value;
}

function shallow(bytes: Buffer): string {
  const text = decoded(bytes);
  const tooDeep = nestedTooDeep(text);
  if (tooDeep) throw new InvalidRequest([{ path: '', message: tooDeep }]);
  return text;
}

/** The form in which the body comes, or null for JSON. */
function formOf({ headers }: IncomingMessage, forms: BodyForms): BodyForm | null {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  const coding = headers['content-encoding'] ?? 'identity';
  const inUtf8 = !charset || /^charset="?utf-?8"?$/.test(charset);
  if (inUtf8 && coding.toLowerCase() === 'identity') {
    const form = Object.hasOwn(forms, type.trim()) ? forms[type.trim()] : null;
    if (form) return form;
    if (/^application\/([\w.+-]+\+)?json$/.test(type.trim())) return null;
  }
  const accepted = ['application/json', ...Object.keys(forms)];
  const message = `Send the body as ${accepted.join(' or ')} in UTF-8, not compressed.`;
  throw new HttpRefusal('unsupported_media_type', message, { Accept: accepted.join(', ') });
}

/**
 * A JSON body that is passed on unread. Throws unsupported_media_type, and payload_too_large, which a body that does not
 * tell its length also throws on the way.
 */
export function streamJson(request: IncomingMessage, limit: BodyLimit): ByteStream {
  formOf(request, {});
  requireWithin(request, bodyLimits[limit]);
  return { length: lengthOf(request), chunks: bounded(request, bodyLimits[limit]) };
}

const lengthOf = ({ headers }: IncomingMessage) =>
  headers['content-length'] === undefined ? null : Number(headers['content-length']);

/**
 * A body of bytes, however many, that is passed on as it comes. Throws unsupported_media_type; on its way,
 * request_timeout when it stalls.
 */
export function streamOctets(request: IncomingMessage): ByteStream {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
  if (/^application\/octet-stream *(;|$)/i.test(type) && coding.toLowerCase() === 'identity') {
    return { length: lengthOf(request), chunks: flowing(request) };
  }
  throw new HttpRefusal('unsupported_media_type', `Send the body as ${OCTETS}, not compressed.`, { Accept: OCTETS });
}

const OCTETS = 'application/octet-stream';

async function* bounded(request: IncomingMessage, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  // To leave an ordinary `for await` destroys the request, and with it the way back for the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    yield chunk;
  }
}

const tooLarge = (limit: number) =>
  new HttpRefusal('payload_too_large', `The body is over the limit of ${limit} bytes.`);

function requireWithin({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  requireWithin(request, limit);
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
      if (size > limit) leave(() => reject(tooLarge(limit)));
      else chunks.push(chunk);
    };
    const end = () => leave(() => resolve(Buffer.concat(chunks)));
    const fail = () => leave(() => reject(new HttpRefusal('bad_request', 'The body was cut off.')));
    request.on('data', take).on('end', end).on('error', fail).on('close', fail);
  });
}

function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HttpRefusal('malformed_json', 'The body is not UTF-8.');
  return unmarked(bytes).toString('utf8');
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function utf8(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new InvalidRequest([{ path: '', message: 'must be UTF-8' }]);
  return unmarked(bytes);
}

function unmarked(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
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
