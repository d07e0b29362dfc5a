import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { InstanceRegistry } from '../../application/jobs/ports.js';
import type { S3Bucket, StoredObject } from './s3-bucket.js';

/** Lists of model files omit this folder, because its name begins with a dot. */
const RECORDS = '.uploads';
/** After its connection to the database broke, an instance has this time to register again. */
const GRACE_MS = 4_000;
const MOST_RECORDS = 1_000;

export interface Uploader {
  /** Tells the records of this service from those of other services that use the same bucket. Must be a secret. */
  readonly secret: () => string;
  readonly instances: () => Pick<InstanceRegistry, 'own' | 'missing'>;
}

/**
 * Writes objects to a bucket. Records each upload in parts in the bucket before it begins. So the parts of a killed
 * instance can be told from those of running instances and of other programs.
 */
export class S3Uploads {
  private readonly records: S3Bucket;
  /** The names of the records of this process. */
  private readonly running = new Set<string>();

  constructor(
    private readonly bucket: S3Bucket,
    private readonly uploader: Uploader,
  ) {
    this.records = bucket.below(RECORDS);
  }

  /** Writes like `S3Bucket.write`. After a failure, `removeUnfinished` removes parts that could not be removed. */
  async write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
    const number = await this.uploader.instances().own();
    const name = `${this.scope()}/${number}-${randomBytes(8).toString('hex')}`;
    this.running.add(name);
    let isRecorded = false;
    try {
      const etag = await this.bucket.write(path, bytes, async () => {
        await this.records.write(name, only(path));
        isRecorded = true;
      });
      if (isRecorded) await this.records.remove(name).catch(() => undefined);
      return etag;
    } finally {
      this.running.delete(name);
    }
  }

  /**
   * Removes what uploads of ended instances, and failed uploads of this instance, have left behind. Looks for parts
   * before it looks for running uploads: an upload that begins in between has a record, and a later one is not found.
   */
  async removeUnfinished(stopping?: AbortSignal, graceMs = GRACE_MS): Promise<void> {
    const { ended: before } = await this.recorded();
    if (before.length === 0) return;
    await delay(graceMs, undefined, { signal: stopping });
    const left = new Map<string, { readonly path: string; readonly uploads: readonly string[] }>();
    for (const record of before) {
      const path = await this.pathIn(record);
      if (path !== null) left.set(record.path, { path, uploads: await this.bucket.unfinished(path, begunBy(record)) });
    }
    const { ended, live } = await this.recorded();
    const busy = new Set(await Promise.all(live.map((record) => this.pathIn(record))));
    for (const record of ended) {
      const { path, uploads } = left.get(record.path) ?? { path: null, uploads: [] };
      // Nobody can tell the parts of two uploads to one path apart. The record stays until the other upload has ended.
      if (path === null || busy.has(path)) continue;
      for (const upload of uploads) await this.bucket.abort(path, upload);
      await this.records.remove(record.path);
    }
  }

  private async recorded(): Promise<{ readonly ended: StoredObject[]; readonly live: StoredObject[] }> {
    const found: StoredObject[] = [];
    for await (const record of this.records.list(`${this.scope()}/`)) {
      found.push(record);
      if (found.length === MOST_RECORDS) break;
    }
    const instances = this.uploader.instances();
    const own = await instances.own();
    const missing = new Set(await instances.missing([...new Set(found.map(numberOf))]));
    const isLive = (record: StoredObject) =>
      numberOf(record) === own ? this.running.has(record.path) : !missing.has(numberOf(record));
    return { ended: found.filter((record) => !isLive(record)), live: found.filter(isLive) };
  }

  /** Returns null if the record was removed meanwhile, because its upload has ended. */
  private async pathIn(record: StoredObject): Promise<string | null> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of this.records.read(record)) chunks.push(chunk);
    } catch (error) {
      if ((await this.records.find(record.path)) === null) return null;
      throw error;
    }
    return Buffer.concat(chunks).toString();
  }

  private scope(): string {
    return createHash('sha256').update(`uploads ${this.uploader.secret()}`).digest('hex').slice(0, 8);
  }
}

/** A store may tell when an upload began in whole seconds. */
const begunBy = ({ modifiedAt }: StoredObject) => new Date(Math.floor(modifiedAt.getTime() / 1_000) * 1_000);

/** Returns the number of the instance in the name of a record, or 0, which no instance has. */
function numberOf({ path }: StoredObject): number {
  const number = Number.parseInt(path.slice(path.indexOf('/') + 1), 10);
  return number < 2 ** 31 ? number : 0;
}

async function* only(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
