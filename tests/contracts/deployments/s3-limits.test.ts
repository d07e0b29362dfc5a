import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LocalModelFileResolver } from '../../../src/infrastructure/files/local-model-files.js';
import { ModelCache } from '../../../src/infrastructure/files/model-cache.js';
import { S3ModelFileResolver } from '../../../src/infrastructure/s3/s3-model-file-resolver.js';
import { SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { barrier } from '../../support/barrier.js';
import { S3Server } from '../../support/s3/s3-server.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';

const temporary = new TemporaryFolder();
const cacheFolder = join(temporary.path, 'cache');
const { signal } = new AbortController();
let server: S3Server;
beforeAll(async () => {
  server = await S3Server.start();
});
beforeEach(() => server.clear());
afterAll(async () => {
  await server.stop();
  temporary.remove();
});

function resolverOf(graceMs?: number): S3ModelFileResolver {
  const cache = new ModelCache({ folder: cacheFolder, mostBytes: 1024 ** 2, graceMs }, new SystemClock());
  return new S3ModelFileResolver(server.bucket(), new LocalModelFileResolver([]), cache);
}

/** Lists these objects of one byte in pages of 700, and answers each download with `x`. */
function serve(paths: readonly string[]): void {
  server.fault = (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://s3');
    if (!searchParams.has('list-type')) {
      response.writeHead(200, { ETag: '"x"', 'Content-Length': 1 }).end('x');
      return true;
    }
    const from = Number(searchParams.get('continuation-token') ?? 0);
    const rest = paths.slice(from, from + 700);
    const isMore = from + 700 < paths.length;
    const objects = rest.map((path) => `<Contents><Key>team/${path}</Key><Size>1</Size><ETag>"x"</ETag></Contents>`);
    const token = isMore ? `<NextContinuationToken>${from + 700}</NextContinuationToken>` : '';
    response.end(
      `<ListBucketResult><IsTruncated>${isMore}</IsTruncated>${token}${objects.join('')}</ListBucketResult>`,
    );
    return true;
  };
}

const numbered = (start: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${start}${String(at).padStart(4, '0')}`);

describe('uploads to a bucket', () => {
  const MB = 1024 ** 2;

  /** Yields 17 MB. Waits for `end` before the last one. */
  async function* halting(end: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < 16; at++) yield Buffer.alloc(MB);
    await end();
    yield Buffer.alloc(MB);
  }

  it('that a killed instance has left behind are removed, and no others', async () => {
    await server.beginUpload('team/of-another-program.onnx');
    const never = () => new Promise<void>(() => undefined);
    void server.uploads(7).write('x.onnx', halting(never));
    await until('the first upload has begun', () => server.unfinished === 2);
    const end = barrier(2);
    const alive = server.uploads(8).write('x.onnx', halting(end));
    await until('the second upload has begun', () => server.unfinished === 3);
    const started = server.uploads(9, [7]);
    await started.removeUnfinished(undefined, 0);
    expect(server.unfinished).toBe(3);
    await end();
    await alive;
    await started.removeUnfinished(undefined, 0);
    expect(server.unfinished).toBe(1);
    expect(await server.bucket().find('x.onnx')).toMatchObject({ size: 17 * MB });
    expect(await server.bucket().below('.uploads').list('').next()).toMatchObject({ done: true });
  });

  it('that failed while the store was away are removed by the same instance later', async () => {
    const uploads = server.uploads();
    const away = async function* () {
      yield* halting(() => server.away());
    };
    await expect(uploads.write('x.onnx', away())).rejects.toMatchObject({ code: 'storage_unavailable' });
    await server.back();
    expect(server.unfinished).toBe(1);
    await uploads.removeUnfinished(undefined, 0);
    expect(server.unfinished).toBe(0);
  });
});

describe('ModelFileResolver of a bucket', () => {
  it('brings a model of 1,000 files whole, and refuses one with more', async () => {
    serve(['model.onnx', ...numbered('model.onnx_data_', 999)]);
    const copy = await resolverOf().materializeFile('model.onnx', signal);
    expect(readdirSync(join(copy.path, '..'))).toHaveLength(1_000);
    copy.release();
    const refusal = { code: 'model_file_invalid', message: expect.stringContaining('more than 1000 files') };
    serve(['model.onnx', ...numbered('model.onnx_data_', 1_000)]);
    await expect(resolverOf().materializeFile('model.onnx', signal)).rejects.toMatchObject(refusal);
    serve(numbered('chat/', 1_001));
    await expect(resolverOf().materializeFolder('chat', signal)).rejects.toMatchObject(refusal);
  });

  it('gives up a model of many files that arrive slowly', async () => {
    serve(numbered('slow/', 100));
    const { fault } = server;
    server.fault = (request, response) => {
      if (request.url?.includes('list-type')) return fault(request, response);
      setTimeout(() => fault(request, response), 100);
      return true;
    };
    await expect(resolverOf(500).materializeFolder('slow', signal)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('takes too long'),
    });
    expect(readdirSync(join(cacheFolder, '.unfinished'))).toEqual([]);
  });
});
