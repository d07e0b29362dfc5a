import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { ModelFile } from '../../domain/deployments/model-file.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';

/** The most parts of an object that S3 accepts. */
const MOST_PARTS = 10_000;
/** S3 refuses parts below 5 MiB, except the last part. */
const LEAST_PART_BYTES = 8 * 1024 ** 2;

const CONNECT_MS = 3_000;
const SILENCE_MS = 30_000;
const ATTEMPTS = 2;

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
  /** A request fails if no byte arrives for this time. */
  readonly silenceMs?: number;
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

  constructor(private readonly settings: S3Settings) {
    const { endpoint, region, forcePathStyle, credentials, mostBytes, silenceMs = SILENCE_MS } = settings;
    this.silenceMs = silenceMs;
    this.partBytes = Math.max(LEAST_PART_BYTES, Math.ceil(mostBytes / MOST_PARTS));
    this.client = new S3Client({
      ...(endpoint && { endpoint }),
      ...(credentials && { credentials }),
      region,
      forcePathStyle,
      followRegionRedirects: true,
      maxAttempts: ATTEMPTS,
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: silenceMs },
      // Signatures cover every body. Many compatible stores refuse the checksums that AWS prefers.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  /** Names the store, without credentials. */
  get name(): string {
    const { bucket, prefix, endpoint } = this.settings;
    return `s3://${bucket}/${prefix}${endpoint ? ` at ${endpoint}` : ''}`;
  }

  /** Finds an object. Returns null if there is no such object. */
  async find(path: string): Promise<StoredObject | null> {
    try {
      const { ContentLength, ETag, LastModified } = await this.attempt((client) =>
        client.send(new HeadObjectCommand(this.targetOf(path))),
      );
      return objectOf(path, ContentLength, ETag, LastModified);
    } catch (error) {
      if (error instanceof Missing) return null;
      throw error;
    }
  }

  /** Yields the objects with paths that begin with `start`, by path. Skips paths that `ModelFile` does not allow. */
  async *list(start: string): AsyncGenerator<StoredObject> {
    const { bucket, prefix } = this.settings;
    let token: string | undefined;
    do {
      const page = await this.attempt((client) =>
        client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix + start, ContinuationToken: token })),
      );
      for (const { Key = '', Size, ETag, LastModified } of page.Contents ?? []) {
        const path = Key.slice(prefix.length);
        if (Key.startsWith(prefix) && ModelFile.isPath(path)) yield objectOf(path, Size, ETag, LastModified);
      }
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token);
  }

  /**
   * Writes an object atomically, in parts if it is large. Holds one part in memory. After an error, also an error of
   * `bytes`, removes the parts and throws the error. If the store cannot remove them now, a rule of the bucket removes
   * them later.
   */
  async write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const Body = Readable.from(bytes);
    const params = { ...this.targetOf(path), Body };
    try {
      await new Upload({ client: this.client, params, partSize: this.partBytes, queueSize: 1 }).done();
    } catch (error) {
      // An upload that fails by itself ends the body with an AbortError.
      const { errored } = Body;
      throw errored && (errored === error || errored.name !== 'AbortError') ? errored : storeErrorOf(error);
    }
  }

  /** Yields the content. Throws the signal's reason, or StorageUnavailable if the object was replaced or removed. */
  async *read({ path, etag, size }: StoredObject, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(), this.silenceMs);
    const abortSignal = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
    let left = size;
    try {
      const { Body, ETag } = await this.attempt((client) =>
        client.send(new GetObjectCommand(this.targetOf(path)), { abortSignal }),
      );
      const body = Body as Readable;
      if (ETag !== etag) {
        body.destroy();
        throw new StorageUnavailable(`"${path}" was replaced while it was read`);
      }
      for await (const chunk of body) {
        timer.refresh();
        left -= chunk.length;
        yield chunk;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof Missing
        ? new StorageUnavailable(`"${path}" was removed while it was read`)
        : storeErrorOf(error);
    } finally {
      clearTimeout(timer);
    }
    if (left !== 0) throw new StorageUnavailable(`the model store broke off "${path}"`);
  }

  /** Removes an object. Does nothing if there is no such object. */
  async remove(path: string): Promise<void> {
    await this.attempt((client) => client.send(new DeleteObjectCommand(this.targetOf(path))));
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

class Missing extends StorageUnavailable {
  constructor() {
    super('the model store does not have the object');
  }
}

interface SdkError extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** Returns the StorageUnavailable that describes a failure of the store. Returns a StorageUnavailable unchanged. */
function storeErrorOf(error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  const { name, code, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  if (name === 'NoSuchBucket') return new StorageUnavailable('the bucket of the model store does not exist');
  if (status === 404) return new Missing();
  if (status === 403 || status === 401 || name === 'CredentialsProviderError')
    return new StorageUnavailable(`the model store refuses the credentials (${name})`);
  if (status !== undefined) return new StorageUnavailable(`the model store failed (${status} ${name})`);
  return new StorageUnavailable(`the model store is out of reach (${code ?? name})`);
}

const objectOf = (path: string, size = 0, etag = '', modifiedAt = new Date(0)): StoredObject => ({
  path,
  size,
  etag,
  modifiedAt,
});
