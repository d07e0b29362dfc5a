import crypto, { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelFileSections, RestoredFiles } from '../../../src/infrastructure/backup/model-files.js';
import { LocalModelFileStore } from '../../../src/infrastructure/files/local-model-file-store.js';
import { LocalModelFileResolver } from '../../../src/infrastructure/files/local-model-files.js';
import { ModelCache } from '../../../src/infrastructure/files/model-cache.js';
import type { StoredObject } from '../../../src/infrastructure/s3/s3-bucket.js';
import { S3ModelFileResolver } from '../../../src/infrastructure/s3/s3-model-file-resolver.js';
import { S3ModelFileStore } from '../../../src/infrastructure/s3/s3-model-file-store.js';
import { SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { barrier } from '../../support/barrier.js';
import { S3Server } from '../../support/s3/s3-server.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { modelFileResolverContract } from './model-file-resolver.contract.js';
import { modelFileStoreContract, pieces, textOf } from './model-file-store.contract.js';

const temporary = new TemporaryFolder();
const at = (path: string) => join(temporary.path, path);
const MB = 1024 ** 2;
let server: S3Server;
beforeAll(async () => {
  server = await S3Server.start();
  mkdirSync(at('folders/shipped'), { recursive: true });
  writeFileSync(at('folders/shipped/iris.onnx'), 'a model');
});
afterAll(async () => {
  await server.stop();
  temporary.remove();
});

async function storeOf(maxEntries?: number): Promise<S3ModelFileStore> {
  await server.clear();
  const folders = new LocalModelFileStore([at('folders')], at('uploads'));
  return new S3ModelFileStore(server.bucket(), server.uploads(), folders, maxEntries, 300);
}

function resolverOf(mostBytes = MB): S3ModelFileResolver {
  const cache = new ModelCache({ folder: at('cache'), mostBytes }, new SystemClock());
  return new S3ModelFileResolver(server.bucket(), new LocalModelFileResolver([at('folders')]), cache);
}

modelFileStoreContract('of a bucket', () => storeOf());
modelFileResolverContract('of a bucket', async () => {
  await server.clear();
  return { resolver: resolverOf(), put: (path, content) => server.put(`team/${path}`, content) };
});

const unavailable = (why: string | RegExp) => ({
  code: 'storage_unavailable',
  message: expect.stringMatching(why),
  advice: { retryAfterSeconds: 2 },
});

async function* megabytes(count: number, end?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at++) yield Buffer.alloc(MB, at);
  if (end) throw end;
}

/** Answers with this text again and again. */
const endless =
  (text: string, pauseMs: number, headers: Record<string, string> = {}): S3Server['fault'] =>
  (_, response) => {
    response.writeHead(200, headers);
    const timer = setInterval(() => response.write(text), pauseMs);
    response.once('close', () => clearInterval(timer));
    return true;
  };

/** Replaces DES by AES: the S3 server encrypts its page tokens with DES, which OpenSSL 3 does not have. */
function useAesForDes(): void {
  type Make = (algorithm: string, key: Buffer, iv: Buffer) => unknown;
  const ciphers = crypto as unknown as Record<'createCipheriv' | 'createDecipheriv', Make>;
  for (const name of ['createCipheriv', 'createDecipheriv'] as const) {
    const real = ciphers[name];
    const twice = (bytes: Buffer) => Buffer.concat([bytes, bytes]);
    jest.spyOn(ciphers, name).mockImplementation((_, key, iv) => real('aes-128-cbc', twice(key), twice(iv)));
  }
}

describe('ModelFileStore of a bucket', () => {
  const paths = async (store: S3ModelFileStore) => (await store.list()).files.map(({ path }) => path);

  it('writes a large file in parts, and keeps no part of an interrupted one', async () => {
    const store = await storeOf();
    const whole = Buffer.concat(Array.from({ length: 17 }, (_, at) => Buffer.alloc(MB, at)));
    const sha256 = createHash('sha256').update(whole).digest('hex');
    expect(await store.write('large.onnx', megabytes(17))).toMatchObject({ size: 17 * MB, replaced: false, sha256 });
    expect(server.requests.filter((one) => one === 'PUT team/large.onnx')).toHaveLength(3);
    const hash = createHash('sha256');
    for await (const chunk of (await store.open('large.onnx'))?.chunks() ?? []) hash.update(chunk);
    expect(hash.digest('hex')).toBe(sha256);
    for (const path of ['large.onnx', 'new.onnx'])
      await expect(store.write(path, megabytes(17, new Error('it broke off')))).rejects.toThrow('it broke off');
    expect(server.unfinished).toBe(0);
    expect((await store.list()).files).toMatchObject([
      { path: 'large.onnx', size: 17 * MB },
      { path: 'shipped/iris.onnx' },
    ]);
  });

  it('shows no part of a file if the store goes away during the write', async () => {
    const store = await storeOf();
    const interrupted = async function* () {
      yield* megabytes(9);
      await server.away();
      yield* megabytes(9);
    };
    await expect(store.write('large.onnx', interrupted())).rejects.toMatchObject(unavailable('out of reach'));
    await server.back();
    const broken = async function* () {
      yield* megabytes(9);
      await server.away();
      throw new Error('it broke off');
    };
    await expect(store.write('large.onnx', broken())).rejects.toThrow('it broke off');
    for (const away of [store.list(), store.write('x', pieces('x')), store.remove('x'), store.open('x')])
      await expect(away).rejects.toMatchObject(unavailable('out of reach'));
    await server.back();
    expect(await paths(store)).toEqual(['shipped/iris.onnx']);
  });

  it('ignores objects outside its prefix, and names that a folder could not have', async () => {
    const store = await storeOf();
    const odd = ['team/.hidden', 'team/a/.b/c', 'team/back\\slash', `team/${'x/'.repeat(8)}deep`];
    for (const key of [...odd, 'other/x.onnx', 'team-too/x.onnx', 'x.onnx', 'team/a/b', 'team/a', 'team/ä +%2F'])
      await server.put(key, key);
    expect(await paths(store)).toEqual(['a/b', 'shipped/iris.onnx', 'ä +%2F']);
    expect(await store.remove('ä +%2F')).toBe(true);
    expect((await store.list('a')).files).toMatchObject([{ path: 'a/b' }]);
    for (const path of ['x.onnx', 'b', 'eam'])
      expect([await store.remove(path), await store.open(path)]).toEqual([false, null]);
  });

  it('reads long lists in pages, up to its limit, and removes what is beyond it too', async () => {
    const store = await storeOf(3);
    useAesForDes();
    for (const path of ['1', '2', '3', '4']) await store.write(path, pieces(path));
    server.fault = (request) => {
      if (request.url?.includes('list-type')) request.url += '&max-keys=2';
      return false;
    };
    const { files, truncated } = await store.list();
    expect([files.map(({ path }) => path), truncated]).toEqual([['1', '2', '3', 'shipped/iris.onnx'], true]);
    expect(await store.uploadedBytes()).toBe(4);
    for (const path of ['1', '2', '3', '4']) await store.remove(path);
    for (let at = 0; at < 40; at++) await server.put(`team/many/${at}`, 'x');
    for (const odd of ['.hidden', 'deep/.x/y', `${'x/'.repeat(8)}deep`, 'back\\slash'])
      await server.put(`team/many/${odd}`, 'x');
    expect(await store.remove('many')).toBe(true);
    expect(await server.bucket().list('', 'all').next()).toMatchObject({ done: true });
  });

  it('is backed up and restored, without replacing anything', async () => {
    const store = await storeOf();
    await store.write('mine/model.onnx', pieces('mine'));
    const sections = [];
    for await (const { header, chunks } of modelFileSections(store, true))
      sections.push({ ...header, text: chunks ? await textOf(chunks) : null });
    const sha256 = createHash('sha256').update('mine').digest('hex');
    const mine = { kind: 'model_file', path: 'mine/model.onnx', size: 4, sha256, included: true } as const;
    expect(sections).toMatchObject([
      { ...mine, text: 'mine' },
      { path: 'shipped/iris.onnx', included: false, text: null },
    ]);
    const restored = new RestoredFiles(temporary.path, store);
    await restored.model(mine, pieces('mine'));
    await expect(restored.putInPlace(at('secret'))).rejects.toThrow('mine/model.onnx is there already');
    await store.remove('mine');
    await restored.putInPlace(at('secret'));
    expect(await paths(store)).toEqual(['mine/model.onnx', 'shipped/iris.onnx']);
    await restored.takeBack();
    restored.end();
    expect(await paths(store)).toEqual(['shipped/iris.onnx']);
  });

  it('gives up a store that stays silent before its answer or in the middle of a file', async () => {
    const store = await storeOf();
    await store.write('x.onnx', pieces('x'));
    const object = (await server.bucket().find('x.onnx')) as StoredObject;
    const bucket = server.bucket({ silenceMs: 500 });
    const silent = unavailable('out of reach');
    server.fault = () => true;
    await expect(bucket.find('x.onnx')).rejects.toMatchObject(silent);
    await expect(bucket.list('').next()).rejects.toMatchObject(silent);
    await expect(bucket.write('y.onnx', pieces('y'))).rejects.toMatchObject(silent);
    server.fault = (_, response) => {
      response.writeHead(200, { ETag: object.etag, 'Content-Length': 9 }).write('x');
      return true;
    };
    const chunks = bucket.read(object);
    expect(Buffer.from((await chunks.next()).value)).toEqual(Buffer.from('x'));
    await expect(chunks.next()).rejects.toMatchObject(silent);
  });

  it('limits the time and the length of each answer', async () => {
    const store = await storeOf();
    await store.write('x.onnx', pieces('x'));
    const object = (await server.bucket().find('x.onnx')) as StoredObject;
    const bucket = server.bucket({ answerMs: 300 });
    const calls = [() => bucket.find('x.onnx'), () => bucket.list('').next(), () => bucket.remove('x.onnx')];
    server.fault = () => true;
    for (const call of calls) await expect(call()).rejects.toMatchObject(unavailable('out of reach'));
    server.fault = endless(' ', 20);
    await expect(bucket.list('').next()).rejects.toMatchObject(unavailable('out of reach'));
    const hasty = server.bucket({ silenceMs: 300, leastBytesPerSecond: 1024 ** 3 });
    await expect(hasty.write('y.onnx', pieces('y'))).rejects.toMatchObject(unavailable('out of reach'));
    server.fault = endless('x', 20, { ETag: object.etag });
    const large = { ...object, size: 1_000 };
    await expect(textOf(hasty.read(large))).rejects.toMatchObject(unavailable('out of reach'));
    server.fault = endless(' '.repeat(MB), 0);
    await expect(server.bucket().list('').next()).rejects.toMatchObject(unavailable('too long an answer'));
  });

  it('reads no more of an object than was listed', async () => {
    const store = await storeOf();
    await store.write('x.onnx', pieces('x'));
    const object = (await server.bucket().find('x.onnx')) as StoredObject;
    const chunk = Buffer.alloc(64 * 1024);
    const ended = new Promise<number>((resolve) => {
      server.fault = (_, response) => {
        let sent = 0;
        const send = () => {
          while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        };
        response
          .writeHead(200, { ETag: object.etag })
          .on('drain', send)
          .once('close', () => resolve(sent));
        send();
        return true;
      };
    });
    let read = 0;
    const reading = (async () => {
      for await (const { length } of server.bucket().read(object)) read += length;
    })();
    await expect(reading).rejects.toMatchObject(unavailable('sends more of "x.onnx" than it lists'));
    expect(read).toBe(0);
    expect(await ended).toBeLessThan(16 * MB);
  });

  it('takes no list that the store does not continue for a whole one', async () => {
    const store = await storeOf();
    for (const next of ['', '<NextContinuationToken>again</NextContinuationToken>', null]) {
      let page = 0;
      server.fault = (request, response) => {
        if (!request.url?.includes('list-type')) return false;
        const token = next ?? `<NextContinuationToken>${++page}</NextContinuationToken>`;
        response.end(`<ListBucketResult><IsTruncated>true</IsTruncated>${token}</ListBucketResult>`);
        return true;
      };
      await expect(store.list()).rejects.toMatchObject(unavailable('does not continue its list'));
    }
  });

  it('says why the store refuses a call', async () => {
    const store = await storeOf();
    const answer = (status: number, code: string) => {
      server.fault = (_, response) => {
        response.writeHead(status, { 'Content-Type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
        return true;
      };
    };
    for (const [status, code, why] of [
      [403, 'AccessDenied', 'refuses the credentials'],
      [404, 'NoSuchBucket', 'the bucket of the model store does not exist'],
      [500, 'InternalError', '500 InternalError'],
    ] as const) {
      answer(status, code);
      await expect(store.list()).rejects.toMatchObject(unavailable(why));
    }
  });
});

describe('ModelFileResolver of a bucket', () => {
  const { signal } = new AbortController();
  const copies = () => readdirSync(at('cache')).filter((name) => !name.startsWith('.'));
  const gets = () => server.requests.filter((one) => one.startsWith('GET team/'));
  const textAt = (path: string) => readFileSync(path, 'utf8');
  beforeEach(async () => {
    await server.clear();
    rmSync(at('cache'), { recursive: true, force: true });
  });

  it('returns copies on the disk while the store is away, and throws for other models', async () => {
    for (const path of ['team/model.onnx', 'team/chat/config.json']) await server.put(path, 'before');
    for (const resolver of [resolverOf(), resolverOf()]) {
      (await resolver.materializeFile('model.onnx', signal)).release();
      (await resolver.materializeFolder('chat', signal))?.release();
    }
    expect(gets()).toHaveLength(2);
    await server.away();
    const resolver = resolverOf(); // as after a restart, knows only the disk
    expect(textAt((await resolver.materializeFile('model.onnx', signal)).path)).toBe('before');
    expect(readdirSync((await resolver.materializeFolder('chat', signal))?.path ?? '')).toEqual(['config.json']);
    expect([await resolver.hasFolder('chat'), await resolver.hasFolder('unknown')]).toEqual([true, true]);
    await expect(resolver.materializeFile('other.onnx', signal)).rejects.toMatchObject(unavailable('out of reach'));
    await expect(resolver.materializeFolder('model.onnx', signal)).rejects.toMatchObject(unavailable('out of reach'));
    await server.back();
    await server.put('team/model.onnx', 'after');
    expect(textAt((await resolver.materializeFile('model.onnx', signal)).path)).toBe('after');
  });

  it('downloads once for several callers, and continues while one of them waits', async () => {
    await server.put('team/model.onnx', 'a model');
    const [begun, go] = [barrier(2), barrier(2)];
    server.fault = (request, response) => {
      if (request.method !== 'GET' || !request.url?.includes('model.onnx?')) return false;
      server.fault = () => false;
      void begun()
        .then(go)
        .then(() => server.handle(request, response));
      return true;
    };
    const resolver = resolverOf();
    const leaving = new AbortController();
    const [left, stays] = [
      resolver.materializeFile('model.onnx', leaving.signal),
      resolver.materializeFile('model.onnx', signal),
    ];
    await begun();
    leaving.abort(new Error('the caller went away'));
    await expect(left).rejects.toThrow('the caller went away');
    await go();
    expect(textAt((await stays).path)).toBe('a model');
    expect(gets()).toHaveLength(1);
  });

  it('ends a download when nobody waits for it', async () => {
    await server.put('team/model.onnx', 'a model');
    const leaving = new AbortController();
    const closed = new Promise((resolve) => {
      server.fault = (request, response) => {
        if (request.method !== 'GET' || !request.url?.includes('model.onnx?')) return false;
        response.writeHead(200, { ETag: '"x"', 'Content-Length': 7 }).write('a');
        response.once('close', resolve);
        leaving.abort(new Error('the caller went away'));
        return true;
      };
    });
    await expect(resolverOf().materializeFile('model.onnx', leaving.signal)).rejects.toThrow('the caller went away');
    await closed;
  });

  it('never returns an interrupted download or a mix of two versions', async () => {
    await server.put('team/model.onnx', 'a model');
    const resolver = resolverOf();
    for (const [etag, why] of [
      [createHash('md5').update('a model').digest('hex'), ''],
      ['another', 'was replaced while it was read'],
    ]) {
      server.fault = (request, response) => {
        if (request.method !== 'GET' || !request.url?.includes('model.onnx?')) return false;
        response.writeHead(200, { ETag: `"${etag}"`, 'Content-Length': 7 }).write('a mod', () => response.destroy());
        return true;
      };
      await expect(resolver.materializeFile('model.onnx', signal)).rejects.toMatchObject(unavailable(why ?? ''));
      expect(copies()).toEqual([]);
    }
    expect(readdirSync(at('cache/.unfinished'))).toEqual([]);
    server.fault = () => false;
    expect(textAt((await resolver.materializeFile('model.onnx', signal)).path)).toBe('a model');
  });

  it('downloads a copy again after somebody changed it', async () => {
    await server.put('team/model.onnx', 'a model');
    const resolver = resolverOf();
    const first = await resolver.materializeFile('model.onnx', signal);
    first.release();
    writeFileSync(first.path, 'a m0del');
    expect(textAt((await resolver.materializeFile('model.onnx', signal)).path)).toBe('a model');
  });

  it('removes the copy that was unused for longest, but no copy that this or another instance uses', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await server.put(`team/${name}.onnx`, name.repeat(4));
    const [one, other] = [resolverOf(10), resolverOf(10)];
    const [a, b] = [await one.materializeFile('a.onnx', signal), await one.materializeFile('b.onnx', signal)];
    await expect(other.materializeFile('c.onnx', signal)).rejects.toMatchObject(unavailable('models in use'));
    b.release();
    const c = await one.materializeFile('c.onnx', signal);
    expect([a, b, c].map(({ path }) => existsSync(path))).toEqual([true, false, true]);
    a.release();
    (await one.materializeFile('a.onnx', signal)).release();
    c.release();
    const d = await one.materializeFile('d.onnx', signal);
    expect([a, c, d].map(({ path }) => existsSync(path))).toEqual([true, false, true]);
    const long = resolverOf(3).materializeFile('a.onnx', signal);
    expect(textAt((await long).path)).toBe('aaaa'); // on the disk already
    await expect(resolverOf(3).materializeFile('b.onnx', signal)).rejects.toMatchObject({ code: 'model_file_invalid' });
  });
});
