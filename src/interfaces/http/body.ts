import { pipeline } from 'node:stream/promises';
import { createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import type { ByteStream } from '../../application/shared/ports.js';
import { HttpRefusal } from './refusals.js';
import type { SpooledBody } from './spooled-body.js';

/**
 * Limits the bytes of a body, for each kind of endpoint. `SERVICE_MODEL_BODY_MB` changes `model`, and
 * `SERVICE_DATASET_IMPORT_MB` changes `dataset`.
 */
export const bodyLimits = {
  ordinary: 100 * 1024,
  spec: 256 * 1024,
  chat: 1024 * 1024,
  model: 32 * 1024 * 1024,
  dataset: 5 * 1024 * 1024,
  records: 5 * 1024 * 1024,
  prediction: 64 * 1024 * 1024,
} as const;
export type BodyLimits = Readonly<Record<keyof typeof bodyLimits, number>>;

/** The settings of limits that an operator can change. */
const limitSettings: Partial<Record<keyof BodyLimits, string>> = {
  model: 'SERVICE_MODEL_BODY_MB',
  dataset: 'SERVICE_DATASET_IMPORT_MB',
};

/** The most bytes of a body, and the setting that changes the limit. */
export interface BodyLimit {
  readonly bytes: number;
  readonly setting?: string | undefined;
}

export const limitOf = ({ bodyLimit = 'ordinary' }: BodyRules, limits: BodyLimits): BodyLimit => ({
  bytes: limits[bodyLimit],
  setting: limitSettings[bodyLimit],
});

/** Limits the nesting of a JSON body. */
export const MAX_DEPTH = 32;
/** Limits the nesting of a JSON body for a model. */
export const MODEL_LEVELS = 64;

/** Reads a body of another media type than JSON into the value that the contract's schema describes. */
export interface BodyForm {
  readonly example: string;
  readonly read: (body: SpooledBody) => Promise<unknown>;
}
export type BodyForms = Readonly<Record<string, BodyForm>>;

export interface BodyRules {
  readonly bodyLimit?: keyof BodyLimits;
  /** The most levels of JSON. The default is `MAX_DEPTH`. */
  readonly mostLevels?: number;
  /** Lists the media types that the body may have besides JSON. */
  readonly forms?: BodyForms;
  /** Reads a JSON body in parts. It may then be longer than the memory allows. */
  readonly jsonForm?: BodyForm;
  /** Names a member of the body that may contain values that cannot be stored. The use case refuses them. */
  readonly uncheckedMember?: string;
  /** Refuses numbers that a double cannot hold exactly: the body is stored, and must be returned as it was sent. */
  readonly exactNumbers?: true;
}

export const isBodyless = ({ headers }: Pick<Request, 'headers'>): boolean =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;

export const announcedLength = ({ headers }: Pick<Request, 'headers'>): number | null =>
  headers['content-length'] === undefined ? null : Number(headers['content-length']);

/** Sends `100 Continue` to a sender that waits for it. After an earlier refusal, such a sender sends no body. */
export function sendContinue(request: Request, response: Response): void {
  if (/^100-continue$/i.test(request.headers.expect ?? '') && !response.headersSent) response.writeContinue();
}

type Headers = Request['headers'];

const JSON_TYPE = /^application\/([\w.+-]+\+)?json$/;

function mediaTypeOf(headers: Headers): { readonly type: string; readonly inUtf8: boolean } {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((one) => one.trim()).find((one) => one.startsWith('charset='));
  return { type: type.trim(), inUtf8: !charset || /^charset="?utf-?8"?$/.test(charset) };
}

const codingOf = (headers: Headers): string => (headers['content-encoding'] ?? 'identity').toLowerCase();

/** Returns the form of the body, or null for JSON. Throws unsupported_media_type. */
export function formOf({ headers }: Request, forms: BodyForms): BodyForm | null {
  const { type, inUtf8 } = mediaTypeOf(headers);
  if (inUtf8 && codingOf(headers) === 'identity') {
    const form = Object.hasOwn(forms, type) ? forms[type] : null;
    if (form) return form;
    if (JSON_TYPE.test(type)) return null;
  }
  const accepted = ['application/json', ...Object.keys(forms)];
  const message = `Send the body as ${accepted.join(' or ')} in UTF-8, not compressed.`;
  throw new HttpRefusal('unsupported_media_type', message, { Accept: accepted.join(', ') });
}

const OCTETS = 'application/octet-stream';

/** Throws unsupported_media_type unless the body has the type of plain bytes and is not compressed. */
export function requireOctets({ headers }: Request): void {
  if (mediaTypeOf(headers).type === OCTETS && codingOf(headers) === 'identity') return;
  throw new HttpRefusal('unsupported_media_type', `Send the body as ${OCTETS}, not compressed.`, { Accept: OCTETS });
}

const decoders = { gzip: createGunzip, deflate: createInflate } as const;
type Coding = keyof typeof decoders;
const isCoding = (coding: string): coding is Coding => Object.hasOwn(decoders, coding);

/** Throws unsupported_media_type for a body that no client of the Open Inference Protocol sends. */
export function requireTensors({ headers }: Request): void {
  const coding = codingOf(headers);
  const { type, inUtf8 } = mediaTypeOf(headers);
  if (coding !== 'identity' && !isCoding(coding)) {
    const known = Object.keys(decoders);
    const message = `Send the body as it is, or compressed by ${known.join(' or ')}.`;
    throw new HttpRefusal('unsupported_media_type', message, { 'Accept-Encoding': known.join(', ') });
  }
  if (inUtf8 && (JSON_TYPE.test(type) || ['', OCTETS].includes(type))) return;
  const accepted = `application/json, ${OCTETS}`;
  const message = `Send the body as ${accepted.replace(', ', ' in UTF-8 or as ')}.`;
  throw new HttpRefusal('unsupported_media_type', message, { Accept: accepted });
}

/** Throws payload_too_large if the announced length is over the limit. */
export function requireWithin(request: Request, limit: BodyLimit): void {
  if ((announcedLength(request) ?? 0) > limit.bytes) throw tooLarge(limit);
}

export const cutOff = () => new HttpRefusal('bad_request', 'The body was cut off.');

/** Yields the body in pieces. Throws payload_too_large beyond the limit, and bad_request if the body is cut off. */
async function* limited(request: Request, limit: BodyLimit): ByteStream['chunks'] & AsyncGenerator<Buffer> {
  let size = 0;
  try {
    // An ordinary `for await` that ends early destroys the request, and with it the connection for the answer.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit.bytes) throw tooLarge(limit);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof HttpRefusal ? error : cutOff();
  }
}

/**
 * Returns the decompressed body, and its length if that is known. The chunks throw as those of `limited` do. They also
 * throw payload_too_large if the decompressed body is over the limit, and bad_request if it cannot be decompressed.
 */
export function decoded(request: Request, limit: BodyLimit): ByteStream {
  const coding = codingOf(request.headers);
  const chunks = limited(request, limit);
  if (!isCoding(coding)) return { length: announcedLength(request), chunks };
  return { length: null, chunks: decompressed(chunks, coding, limit) };
}

async function* decompressed(chunks: AsyncIterable<Buffer>, coding: Coding, limit: BodyLimit): AsyncGenerator<Buffer> {
  const decoder = decoders[coding]();
  pipeline(chunks, decoder).catch(() => undefined); // the loop below gets the failure from the decoder
  let size = 0;
  try {
    for await (const chunk of decoder) {
      size += chunk.length;
      if (size > limit.bytes) throw tooLarge(limit);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof HttpRefusal ? error : new HttpRefusal('bad_request', `The body is not valid ${coding}.`);
  }
}

export const tooLarge = ({ bytes, setting }: BodyLimit) => {
  const limit = `${bytes} bytes${setting ? ` (${setting})` : ''}`;
  return new HttpRefusal('payload_too_large', `The body is over the limit of ${limit}.`);
};
