import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { ModelFile } from '../../domain/deployments/model-file.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';
import { steadyMs } from '../system/scheduling.js';
import { limited, Missing, storeErrorOf } from './s3-answers.js';

/** The most parts of an object that S3 accepts. */
const MOST_PARTS = 10_000;
/** S3 refuses parts below 5 MiB, except the last part. */
const LEAST_PART_BYTES = 8 * 1024 ** 2;

const CONNECT_MS = 3_000;
const SILENCE_MS = 30_000;
const ANSWER_MS = 10_000;
const LEAST_BYTES_PER_SECOND = 256 * 1024;
const ATTEMPTS = 2;

/** The most pages of a list in a row without any path that `ModelFile` allows. */
const MOST_VAIN_PAGES = 100;

export interface S3Settings {
  readonly bucket: string;
  /** Empty, or a text that ends in a slash. */
  readonly prefix: string;
  /** The URL of the store, or null for AWS. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly forcePathStyle: boolean;
  /** The credentials. If they are null, the AWS SDK finds them, for example in the role of the machine. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  } | null;
  /** The size of the largest object that `write` accepts. */
  readonly mostBytes: number;
  /** A request fails if no byte arrives for this time. The default is 30 s. */
  readonly silenceMs?: number;
  /** A search, a page of a list and a removal fail after this time, with their repetition. The default is 10 s. */
  readonly answerMs?: number;
  /** An object or a part fails if it takes longer than `silenceMs` and its bytes at this rate. The default is 256 KiB. */
  readonly leastBytesPerSecond?: number;
}

export interface StoredObject {
  /** The key without the prefix. */
  readonly path: string;
  readonly size: number;
  readonly etag: string;
  readonly modifiedAt: Date;
}

/** Reads and writes objects below a prefix. Throws StorageUnavailable if the bucket cannot be reached or refuses. */
export class S3Bucket {
  private readonly client: S3Client;
  private readonly partBytes: number;
  private readonly silenceMs: number;
  private readonly answerMs: number;

  constructor(private readonly settings: S3Settings) {
    const { endpoint, region, forcePathStyle, credentials, mostBytes } = settings;
    this.silenceMs = settings.silenceMs ?? SILENCE_MS;
    this.answerMs = settings.answerMs ?? ANSWER_MS;
    this.partBytes = Math.max(LEAST_PART_BYTES, Math.ceil(mostBytes / MOST_PARTS));
    const requestTimeout = this.mostMsOf(this.partBytes);
    this.client = new S3Client({
      ...(endpoint && { endpoint }),
      ...(credentials && { credentials }),
      region,
      forcePathStyle,
      followRegionRedirects: true,
      maxAttempts: ATTEMPTS,
      requestHandler: {
        connectionTimeout: CONNECT_MS,
        socketTimeout: this.silenceMs,
        requestTimeout,
        throwOnRequestTimeout: true,
      },
      // Signatures cover every body. Many compatible stores refuse the checksums that AWS prefers.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
    // The request handler limits only the time until an answer begins. An answer may last longer, because S3 may need
    // minutes to put the parts of an object together.
    const mostAnswerMs = 10 * requestTimeout;
    this.client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const result = await next(args);
          const response = result.response as { body?: unknown };
          if (commandName !== 'GetObjectCommand' && response.body instanceof Readable)
            response.body = Readable.from(limited(response.body, mostAnswerMs));
          return result;
        },
      { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
    );
  }

  /** Names the store, without credentials. */
  get name(): string {
    const { bucket, prefix, endpoint } = this.settings;
    return `s3://${bucket}/${prefix}${endpoint ? ` at ${endpoint}` : ''}`;
  }

  /** Returns the objects of a folder below the prefix as a bucket of its own. */
  below(folder: string): S3Bucket {
    return new S3Bucket({ ...this.settings, prefix: `${this.settings.prefix}${folder}/` });
  }

  /** Finds an object. Returns null if there is no such object. */
  async find(path: string): Promise<StoredObject | null> {
    try {
      const { ContentLength, ETag, LastModified } = await this.attempt((client) =>
        client.send(new HeadObjectCommand(this.targetOf(path)), this.limit()),
      );
      return objectOf(path, ContentLength, ETag, LastModified);
    } catch (error) {
      if (error instanceof Missing) return null;
      throw error;
    }
  }

  /**
   * Yields the objects with paths that begin with `start`, by path. Skips paths that `ModelFile` does not allow, unless
   * `which` is `all`. Throws StorageUnavailable rather than cut a list.
   */
  async *list(start: string, which: 'allowed' | 'all' = 'allowed'): AsyncGenerator<StoredObject> {
    const { bucket, prefix } = this.settings;
    let token: string | undefined;
    let vain = 0;
    do {
      const place = { Bucket: bucket, Prefix: prefix + start, ContinuationToken: token };
      const page = await this.attempt((client) => client.send(new ListObjectsV2Command(place), this.limit()));
      vain++;
      for (const { Key = '', Size, ETag, LastModified } of page.Contents ?? []) {
        const path = Key.slice(prefix.length);
        if (!Key.startsWith(prefix + start) || (which === 'allowed' && !ModelFile.isPath(path))) continue;
        vain = 0;
        yield objectOf(path, Size, ETag, LastModified);
      }
      const next = page.IsTruncated ? (page.NextContinuationToken ?? '') : undefined;
      if (next === '' || (next !== undefined && next === token) || vain > MOST_VAIN_PAGES)
        throw new StorageUnavailable('the model store does not continue its list');
      token = next;
    } while (token);
  }

  /**
   * Writes an object atomically, in parts if it is large, and returns its ETag. Holds one part in memory. Calls
   * `beforeParts` before it begins an upload in parts. After an error, also an error of `bytes`, removes the parts if it can, and throws the error.
   */
  async write(path: string, bytes: AsyncIterable<Uint8Array>, beforeParts?: () => Promise<void>): Promise<string> {
    const Body = Readable.from(this.announced(bytes, beforeParts));
    const params = { ...this.targetOf(path), Body };
    try {
      const upload = new Upload({ client: this.client, params, partSize: this.partBytes, queueSize: 1 });
      return tagOf((await upload.done()).ETag);
    } catch (error) {
      // An upload that fails by itself ends the body with an AbortError.
      const { errored } = Body;
      throw errored && (errored === error || errored.name !== 'AbortError') ? errored : storeErrorOf(error);
    }
  }

  /** Returns the ids of the unfinished uploads in parts to a path that began at `since` or later. */
  async unfinished(path: string, since: Date): Promise<string[]> {
    const { Bucket, Key } = this.targetOf(path);
    const ids: string[] = [];
    let place: ListMultipartUploadsCommandInput | null = { Bucket, Prefix: Key };
    for (let page = 0; place && page < MOST_VAIN_PAGES; page++) {
      const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand(place);
      const found = await this.attempt((client) => client.send(command, this.limit()));
      for (const { Key: key, UploadId, Initiated } of found.Uploads ?? [])
        if (key === Key && UploadId && Initiated && Initiated >= since) ids.push(UploadId);
      const markers = { KeyMarker: found.NextKeyMarker, UploadIdMarker: found.NextUploadIdMarker };
      place = found.IsTruncated ? { Bucket, Prefix: Key, ...markers } : null;
    }
    if (place) throw new StorageUnavailable('the model store lists too many unfinished uploads');
    return ids;
  }

  /** Ends an unfinished upload and removes its parts. Does nothing if there is no such upload. */
  async abort(path: string, UploadId: string): Promise<void> {
    const command = new AbortMultipartUploadCommand({ ...this.targetOf(path), UploadId });
    await this.attempt((client) => client.send(command, this.limit())).catch((error) => {
      if (!(error instanceof Missing)) throw error;
    });
  }

  /**
   * Yields the content. Throws the signal's reason. Throws StorageUnavailable if the object was replaced or removed, has
   * another size than it was listed with, or takes too long. The time that the reader takes does not count.
   */
  async *read({ path, etag, size }: StoredObject, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const late = new AbortController();
    const abortSignal = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    let patienceMs = this.mostMsOf(size);
    const waited = async <T>(work: Promise<T>): Promise<T> => {
      const begun = steadyMs();
      const timer = setTimeout(() => late.abort(), Math.min(this.silenceMs, patienceMs));
      try {
        return await work;
      } finally {
        clearTimeout(timer);
        patienceMs -= steadyMs() - begun;
      }
    };
    let body: Readable | undefined;
    let left = size;
    try {
      const { Body, ETag } = await waited(this.client.send(new GetObjectCommand(this.targetOf(path)), { abortSignal }));
      body = Body as Readable;
      if (tagOf(ETag) !== etag) throw new StorageUnavailable(`"${path}" was replaced while it was read`);
      const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
      for (let next = await waited(chunks.next()); !next.done; next = await waited(chunks.next())) {
        left -= next.value.length;
        if (left < 0) throw new StorageUnavailable(`the model store sends more of "${path}" than it lists`);
        yield next.value;
      }
    } catch (error) {
      signal?.throwIfAborted();
      const problem = storeErrorOf(error);
      throw problem instanceof Missing ? new StorageUnavailable(`"${path}" was removed while it was read`) : problem;
    } finally {
      body?.destroy();
    }
    if (left !== 0) throw new StorageUnavailable(`the model store broke off "${path}"`);
  }

  /** Removes an object. Does nothing if there is no such object. */
  async remove(path: string): Promise<void> {
    await this.attempt((client) => client.send(new DeleteObjectCommand(this.targetOf(path)), this.limit()));
  }

  private async *announced(bytes: AsyncIterable<Uint8Array>, beforeParts?: () => Promise<void>) {
    let left = this.partBytes;
    for await (const chunk of bytes) {
      if (left > 0 && left <= chunk.length) await beforeParts?.();
      left -= chunk.length;
      yield chunk;
    }
  }

  private limit(): { readonly abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(this.answerMs) };
  }

  private mostMsOf(bytes: number): number {
    return this.silenceMs + (bytes / (this.settings.leastBytesPerSecond ?? LEAST_BYTES_PER_SECOND)) * 1_000;
  }

  private targetOf(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.settings.bucket, Key: this.settings.prefix + path };
  }

  private async attempt<T>(work: (client: S3Client) => Promise<T>): Promise<T> {
    try {
      return await work(this.client);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }
}

/** Stores write one ETag in several forms: with or without quotes, and as weak after a proxy has compressed the answer. */
const tagOf = (etag = ''): string => etag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');

const objectOf = (path: string, size = 0, etag = '', modifiedAt = new Date(0)): StoredObject => ({
  path,
  size,
  etag: tagOf(etag),
  modifiedAt,
});
