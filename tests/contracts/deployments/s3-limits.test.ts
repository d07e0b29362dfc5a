import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LocalModelFileStore } from '../../../src/infrastructure/files/local-model-file-store.js';
import { LocalModelFileResolver } from '../../../src/infrastructure/files/local-model-files.js';
import { ModelCache } from '../../../src/infrastructure/files/model-cache.js';
import { S3ModelFileResolver } from '../../../src/infrastructure/s3/s3-model-file-resolver.js';
import { S3ModelFileStore } from '../../../src/infrastructure/s3/s3-model-file-store.js';
import { SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { barrier, gate } from '../../support/barrier.js';
import { S3Server } from '../../support/s3/s3-server.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { heldBack, pieces } from './model-file-store.contract.js';

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

  /** Begins an upload that never ends, as that of an instance that is killed. */
  async function killed(instance: number, path: string): Promise<void> {
    const never = halting(() => new Promise<void>(() => undefined));
    server
      .uploads(instance)
      .write(path, never)
      .catch(() => undefined);
    const isStored = () => server.requests.includes(`PUT team/${path}`) && server.pending === 0;
    await until('its first part is stored', isStored);
  }

  it('that a killed instance has left behind are removed, and no others', async () => {
    await server.beginUpload('team/of-another-program.onnx');
    await killed(7, 'x.onnx');
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

  it.each([
    ['looks for parts', 'GET', 'uploads'],
    ['removes parts', 'DELETE', 'uploadId'],
  ])('go on if they begin just before another instance %s at their path', async (_, method, parameter) => {
    await killed(7, 'x.onnx');
    const end = gate();
    let alive: Promise<string> | undefined;
    server.fault = (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://s3');
      if (alive || request.method !== method || !searchParams.has(parameter)) return false;
      alive = server.uploads(8).write(
        'x.onnx',
        halting(() => end.opened),
      );
      alive.catch(() => undefined);
      void until('the other upload has begun', () => server.unfinished === 2).then(() =>
        server.handle(request, response),
      );
      return true;
    };
    await server.uploads(9, [7]).removeUnfinished(undefined, 0);
    end.open();
    await alive;
    expect(await server.bucket().find('x.onnx')).toMatchObject({ size: 17 * MB });
  });

  it('are removed although the record of another one vanishes', async () => {
    for (const [instance, path] of [
      [6, 'x.onnx'],
      [7, 'y.onnx'],
    ] as const)
      await killed(instance, path);
    const records = server.bucket().below('.uploads');
    server.fault = (request, response) => {
      if (request.method !== 'GET' || !/[.]uploads[/]\w+[/]6-/.test(request.url ?? '')) return false;
      server.fault = () => false;
      const remove = async () => {
        for await (const { path } of records.list('')) if (path.includes('/6-')) await records.remove(path);
        server.handle(request, response);
      };
      void remove();
      return true;
    };
    await server.uploads(9, [6, 7]).removeUnfinished(undefined, 0);
    expect(server.unfinished).toBe(1);
    expect(await records.list('').next()).toMatchObject({ done: true });
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

describe('racing uploads to a bucket', () => {
  const storeOf = () =>
    new S3ModelFileStore(
      server.bucket(),
      server.uploads(),
      new LocalModelFileStore([], temporary.path),
      undefined,
      300,
    );

  it('never removes the object of another upload when it gives way', async () => {
    const store = storeOf();
    const [found, go] = [gate(), gate()];
    server.fault = (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://s3');
      const isLook = searchParams.get('prefix') === 'team/mine/' && server.requests.includes('PUT team/mine');
      if (!isLook) return false;
      server.fault = () => false;
      found.open();
      void go.opened.then(() => server.handle(request, response));
      return true;
    };
    const first = store.write('mine', pieces('the first'));
    await found.opened;
    expect(await store.write('mine', pieces('the second'))).toMatchObject({ replaced: true });
    await server.put('team/mine/below', 'x');
    go.open();
    await expect(first).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await server.bucket().find('mine')).toMatchObject({ size: 'the second'.length });
  });

  it('gives way to a folder that took the place of the file that it replaces', async () => {
    const store = storeOf();
    await store.write('mine', pieces('the first'));
    const [begun, end] = [barrier(2), barrier(2)];
    const second = store.write('mine', heldBack(begun, end));
    await begun();
    await store.remove('mine');
    await store.write('mine/below', pieces('x'));
    await end();
    await expect(second).rejects.toMatchObject({ code: 'invalid_request' });
    expect((await store.list()).files).toMatchObject([{ path: 'mine/below' }]);
  });
});

describe('the sum of all objects of a bucket', () => {
  it('is given up if the store lists objects without end', async () => {
    let page = 0;
    server.fault = (_, response) => {
      const object = `<Contents><Key>team/${page++}.onnx</Key><Size>1</Size><ETag>"x"</ETag></Contents>`;
      const token = `<NextContinuationToken>${page}</NextContinuationToken>`;
      response.end(`<ListBucketResult><IsTruncated>true</IsTruncated>${token}${object}</ListBucketResult>`);
      return true;
    };
    const folders = new LocalModelFileStore([], temporary.path);
    const store = new S3ModelFileStore(server.bucket(), server.uploads(), folders, undefined, 300, 300);
    await expect(store.uploadedBytes()).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(page).toBeGreaterThan(1);
  });
});

describe('ModelFileResolver of a bucket', () => {
  it.each(['W/"x"', 'x'])('knows the ETag "x" of its list also as %s', async (tag) => {
    serve(['model.onnx']);
    const { fault } = server;
    server.fault = (request, response) => {
      if (request.url?.includes('list-type')) return fault(request, response);
      response.writeHead(200, { ETag: tag, 'Content-Length': 1 }).end('x');
      return true;
    };
    const copy = await resolverOf().materializeFile('model.onnx', signal);
    expect(readdirSync(join(copy.path, '..'))).toEqual(['model.onnx']);
    copy.release();
    rmSync(cacheFolder, { recursive: true, force: true });
  });

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
