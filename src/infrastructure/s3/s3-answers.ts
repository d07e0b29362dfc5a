import type { Readable } from 'node:stream';
import { StorageUnavailable } from '../../domain/shared/errors.js';

/** The most bytes of an answer that is no object. A page of 1,000 objects with the longest names has less. */
const MOST_ANSWER_BYTES = 8 * 1024 ** 2;

class AnswerTooLong extends Error {}

/** Yields the body of an answer that the SDK collects in memory. */
export async function* limited(body: Readable, mostMs: number): AsyncGenerator<Uint8Array> {
  const late = Object.assign(new Error('the answer takes too long'), { code: 'ETIMEDOUT' });
  const timer = setTimeout(() => body.destroy(late), mostMs);
  let left = MOST_ANSWER_BYTES;
  try {
    for await (const chunk of body) {
      left -= chunk.length;
      if (left < 0) throw new AnswerTooLong();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

export class Missing extends StorageUnavailable {
  constructor() {
    super('the model store does not have the object');
  }
}

interface SdkError extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Returns the StorageUnavailable that describes a failure of the store. Returns a StorageUnavailable unchanged. */
export function storeErrorOf(error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  if (error instanceof AnswerTooLong) return new StorageUnavailable('the model store gives too long an answer');
  const { name, code, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  if (name === 'NoSuchBucket') return new StorageUnavailable('the bucket of the model store does not exist');
  if (status === 404) return new Missing();
  if (status === 403 || status === 401 || name === 'CredentialsProviderError')
    return new StorageUnavailable(`the model store refuses the credentials (${name})`);
  if (status !== undefined) return new StorageUnavailable(`the model store failed (${status} ${name})`);
  const why = name === 'AbortError' ? 'it takes too long' : (code ?? name);
  return new StorageUnavailable(`the model store is out of reach (${why})`);
}
