import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';
import { S3Bucket, type S3Settings } from '../../../src/infrastructure/s3/s3-bucket.js';
import { S3Uploads } from '../../../src/infrastructure/s3/s3-uploads.js';

import S3rver = require('@20minutes/s3rver');

import { TemporaryFolder } from '../temporary-folder.js';

const BUCKET = 'models';
const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Runs an S3 server with its objects on the disk. A test can stop it for a while. */
export class S3Server {
  /** Returns true for a request that it handles in place of the server, with or without an answer. */
  fault: Fault = () => false;
  /** Lists the requests since the last `clear`, such as `GET iris.onnx`. */
  readonly requests: string[] = [];
  /** The number of requests without a complete answer. */
  pending = 0;
  private readonly server: Server;
  private port = 0;

  private constructor(
    private readonly folder: TemporaryFolder,
    private readonly app: RequestListener,
  ) {
    this.server = createServer((request, response) => {
      this.pending++;
      response.once('close', () => this.pending--);
      const { pathname } = new URL(request.url ?? '', 'http://s3');
      this.requests.push(`${request.method} ${decodeURIComponent(pathname.slice(BUCKET.length + 2))}`);
      if (!this.fault(request, response)) this.handle(request, response);
    });
  }

  static async start(): Promise<S3Server> {
    const folder = new TemporaryFolder();
    const app = new S3rver({
      directory: folder.path,
      silent: true,
      configureBuckets: [{ name: BUCKET }],
      // The package leaves the slash after a bucket out of the signature.
      allowMismatchedSignatures: true,
    });
    await app.configureBuckets();
    const one = new S3Server(folder, app.callback());
    await one.back();
    return one;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get settings(): S3Settings {
    const place = { bucket: BUCKET, prefix: 'team/', endpoint: this.url, region: 'us-east-1', forcePathStyle: true };
    return { ...place, credentials: keys, mostBytes: 1024 ** 3 };
  }

  /** Returns the settings of a service that keeps its models here. */
  get env(): Record<string, string> {
    return {
      SERVICE_MODEL_STORE: `s3://${BUCKET}/team`,
      SERVICE_S3_ENDPOINT: this.url,
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
    };
  }

  bucket(settings: Partial<S3Settings> = {}): S3Bucket {
    return new S3Bucket({ ...this.settings, ...settings });
  }

  /** Returns the uploads of the instance with this number, which does not see the instances in `missing`. */
  uploads(number = 1, missing: readonly number[] = []): S3Uploads {
    const instances = { own: async () => number, missing: async () => [...missing] };
    return new S3Uploads(this.bucket(), { secret: () => 'a secret', instances: () => instances });
  }

  /** Breaks all connections and accepts none. */
  async away(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  async back(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(request.url ?? '', 'http://s3');
    const upload = searchParams.get('uploadId');
    if (request.method === 'DELETE' && upload) this.abort(upload, response);
    else if (request.method === 'GET' && searchParams.has('uploads')) this.listUploads(searchParams, response);
    else this.app(request, response);
  }

  /** Begins an upload in parts, as another program does. */
  async beginUpload(key: string): Promise<void> {
    const client = new S3Client({ endpoint: this.url, region: 'us-east-1', forcePathStyle: true, credentials: keys });
    await client.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: key }));
    client.destroy();
  }

  /** Puts an object with any name into the bucket. */
  async put(key: string, content: string | Uint8Array): Promise<void> {
    await new S3Bucket({ ...this.settings, prefix: '' }).write(key, pieces(Buffer.from(content)));
  }

  /** Removes all objects and faults. */
  async clear(): Promise<void> {
    if (!this.server.listening) await this.back();
    const bucket = join(this.folder.path, BUCKET);
    for (const name of readdirSync(bucket)) rmSync(join(bucket, name), { recursive: true });
    this.fault = () => false;
    this.requests.length = 0;
  }

  /** Counts the uploads in parts that were neither completed nor aborted. */
  get unfinished(): number {
    return existsSync(this.parts) ? readdirSync(this.parts).length : 0;
  }

  async stop(): Promise<void> {
    if (this.server.listening) await this.away();
    this.folder.remove();
  }

  private get parts(): string {
    return join(this.folder.path, BUCKET, '._S3rver_uploads');
  }

  /** Lists the uploads in parts, which the package cannot do. */
  private listUploads(query: URLSearchParams, response: ServerResponse): void {
    // An upload may begin or end meanwhile.
    const isThere = (id: string) => existsSync(join(this.parts, id, 'key'));
    const uploads = (existsSync(this.parts) ? readdirSync(this.parts) : []).filter(isThere).map((id) => {
      const [key, { mtime }] = [readFileSync(join(this.parts, id, 'key'), 'utf8'), statSync(join(this.parts, id))];
      if (!key.startsWith(query.get('prefix') ?? '')) return '';
      return `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${mtime.toISOString()}</Initiated></Upload>`;
    });
    response.end(`<ListMultipartUploadsResult>${uploads.join('')}</ListMultipartUploadsResult>`);
  }

  /** Aborts an upload in parts, which the package cannot do. */
  private abort(upload: string, response: ServerResponse): void {
    rmSync(join(this.parts, upload), { recursive: true });
    response.writeHead(204).end();
  }
}

async function* pieces(content: Buffer): AsyncGenerator<Uint8Array> {
  yield content;
}
