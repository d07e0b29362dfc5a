import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LocalModelFileStore, removeUnfinished } from '../../../src/infrastructure/files/local-model-file-store.js';
import { barrier } from '../../support/barrier.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const temporary = new TemporaryFolder();
const at = (path: string) => join(temporary.path, path);
afterAll(() => temporary.remove());

function put(path: string, text = 'a model'): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

function local(shipped: readonly string[] = [], own = 'own', most?: number): LocalModelFileStore {
  for (const folder of ['own', 'shipped', 'outside', 'link']) rmSync(at(folder), { recursive: true, force: true });
  for (const folder of ['own', 'shipped', 'outside']) mkdirSync(at(folder));
  symlinkSync('own', at('link'));
  for (const path of shipped) put(`shipped/${path}`);
  return new LocalModelFileStore([at('missing'), at('shipped'), at(own)], at(own), most);
}

describe.each([
  ['named itself', 'own'],
  ['named by a link', 'link'],
])('ModelFileStore of a folder, %s', (_, own) => {
  let store: LocalModelFileStore;
  beforeEach(() => {
    store = local(['shipped/iris.onnx'], own);
  });

  const write = (path: string, text = path) => store.write(path, pieces(text));
  const paths = async (at?: string) => (await store.list(at)).files.map(({ path }) => path);

  it('keeps what it is given, and tells what that was', async () => {
    const text = 'a model in several pieces';
    const sha256 = createHash('sha256').update(text).digest('hex');
    const written = await write('mine/model.onnx', text);
    expect(written).toMatchObject({ path: 'mine/model.onnx', size: text.length, writable: true, replaced: false });
    expect(written.sha256).toBe(sha256);
    const { modifiedAt } = written;
    expect((await store.list()).files).toEqual([
      { path: 'mine/model.onnx', size: text.length, modifiedAt, writable: true },
      expect.objectContaining({ path: 'shipped/iris.onnx', writable: false }),
    ]);
    expect((await store.list()).truncated).toBe(false);
  });

  it('lists by path, all of it, a folder of it, or a file', async () => {
    for (const path of ['b/2', 'a-c', 'b/1', 'a/x', 'b-1', 'ä']) await write(path);
    expect(await paths()).toEqual(['a-c', 'a/x', 'b-1', 'b/1', 'b/2', 'shipped/iris.onnx', 'ä']);
    expect(await paths('b')).toEqual(['b/1', 'b/2']);
    expect(await paths('b/1')).toEqual(['b/1']);
    expect(await paths('shipped')).toEqual(['shipped/iris.onnx']);
    expect(await paths('shipped/iris.onnx')).toEqual(['shipped/iris.onnx']);
    for (const nothing of ['missing', 'b/1/x', 'b/3', 'a/x/y/z']) expect(await paths(nothing)).toEqual([]);
  });

  it('shows nothing of what is not there as a whole yet', async () => {
    const [begun, end] = [barrier(2), barrier(2)];
    const writing = store.write('slow.onnx', heldBack(begun, end));
    await begun();
    expect(await paths()).toEqual(['shipped/iris.onnx']);
    await end();
    await writing;
    expect(await paths()).toEqual(['shipped/iris.onnx', 'slow.onnx']);
  });

  it('keeps nothing of what breaks off, and what was there before', async () => {
    await write('kept.onnx', 'before');
    for (const path of ['kept.onnx', 'new.onnx', 'deep/er/new.onnx']) {
      await expect(store.write(path, breakingOff())).rejects.toThrow('it broke off');
    }
    expect((await store.list()).files).toMatchObject([{ path: 'kept.onnx', size: 6 }, { path: 'shipped/iris.onnx' }]);
  });

  it('refuses to write over a folder, and into a file', async () => {
    await write('mine/model.onnx');
    for (const path of ['mine', 'mine/model.onnx/below', 'mine/model.onnx/far/below']) {
      await expect(write(path)).rejects.toMatchObject({
        code: 'invalid_request',
        advice: { details: [{ path: 'path' }] },
      });
    }
    expect(await paths('mine')).toEqual(['mine/model.onnx']);
  });

  it('removes a file, and the folders above that are empty then', async () => {
    for (const path of ['a/b/1', 'a/2']) await write(path);
    expect(await store.remove('a/b/1')).toBe(true);
    expect(await store.remove('a/b/1')).toBe(false);
    expect(await paths('a')).toEqual(['a/2']);
    expect(await write('a/b')).toMatchObject({ replaced: false });
  });

  it('removes a folder with all that is in it', async () => {
    for (const path of ['mine/1', 'mine/deep/2', 'mine-too']) await write(path);
    expect(await store.remove('mine')).toBe(true);
    expect(await paths()).toEqual(['mine-too', 'shipped/iris.onnx']);
    expect(await write('mine')).toMatchObject({ replaced: false });
  });

  it('removes nothing that is not there, or not to be written', async () => {
    await write('mine/1');
    for (const path of ['missing', 'mine/missing', 'mine/1/x', 'shipped', 'shipped/iris.onnx']) {
      expect(await store.remove(path)).toBe(false);
    }
    expect(await paths()).toEqual(['mine/1', 'shipped/iris.onnx']);
  });

  it('writes into a folder that a removal takes away at the same time', async () => {
    for (let round = 0; round < 20; round++) {
      await write('a/b/1');
      const [removed] = await Promise.all([store.remove('a/b/1'), write('a/b/2')]);
      expect({ removed, left: await paths('a') }).toEqual({ removed: true, left: ['a/b/2'] });
    }
  });
});

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 5) yield Buffer.from(text.slice(at, at + 5));
}

async function* heldBack(begun: () => Promise<void>, end: () => Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the beginning');
  await begun();
  await end();
  yield Buffer.from('the end');
}

async function* breakingOff(error = new Error('it broke off')): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the beginning');
  throw error;
}

describe('ModelFileStore of the file system', () => {
  const paths = async (store: LocalModelFileStore) => (await store.list()).files.map(({ path }) => path);
  const unfinished = () => (existsSync(at('own/.unfinished')) ? readdirSync(at('own/.unfinished')) : []);

  it('writes into the folder that it is told to, and leaves nothing else there', async () => {
    const store = local();
    await store.write('a/b/model.onnx', pieces('content'));
    expect(readFileSync(at('own/a/b/model.onnx'), 'utf8')).toBe('content');
    await expect(store.write('c/model.onnx', breakingOff())).rejects.toThrow('it broke off');
    expect({ unfinished: unfinished(), own: readdirSync(at('own')).sort() }).toEqual({
      unfinished: [],
      own: ['.unfinished', 'a'],
    });
  });

  it('closes what it writes to strangers', async () => {
    await local().write('a/model.onnx', pieces('content'));
    const modes = ['own/a', 'own/a/model.onnx'].map((path) => statSync(at(path)).mode & 0o777);
    expect(modes).toEqual([0o750, 0o640].map((mode) => mode & ~process.umask()));
  });

  it('lets whoever has opened the file before go on with it', async () => {
    const store = local();
    await store.write('model.onnx', pieces('before'));
    const opened = openSync(at('own/model.onnx'), 'r');
    await store.write('model.onnx', pieces('after'));
    expect([readFileSync(opened, 'utf8'), readFileSync(at('own/model.onnx'), 'utf8')]).toEqual(['before', 'after']);
    closeSync(opened);
  });

  it('shows of two files with one path the one in the first folder', async () => {
    const store = local(['iris.onnx']);
    put('own/iris.onnx', 'another model');
    expect((await store.list()).files).toMatchObject([{ path: 'iris.onnx', size: 7, writable: false }]);
  });

  it('skips what is hidden, pipes, sockets, loops and what links lead to outside', async () => {
    const store = local(['iris.onnx']);
    for (const path of ['own/.hidden', 'own/.unfinished/x/part', 'own/real/model.onnx', 'outside/secret.onnx'])
      put(path);
    execFileSync('mkfifo', [at('own/pipe.onnx')]);
    symlinkSync('../outside', at('own/out'));
    symlinkSync('../outside/secret.onnx', at('own/out.onnx'));
    symlinkSync('loop', at('own/loop'));
    symlinkSync('..', at('own/real/up'));
    symlinkSync('../shipped', at('own/others'));
    symlinkSync('real/model.onnx', at('own/same.onnx'));
    expect((await store.list()).files.map(({ path, writable }) => [path, writable])).toEqual([
      ['iris.onnx', false],
      ['others/iris.onnx', false],
      ['real/model.onnx', true],
      ['same.onnx', true],
    ]);
    for (const path of ['out', 'out/secret.onnx', 'loop', 'pipe.onnx']) {
      expect(await store.list(path)).toEqual({ files: [], truncated: false });
    }
  });

  it('neither writes nor removes through links that lead out or nowhere', async () => {
    const store = local(['iris.onnx']);
    put('outside/deep/secret.onnx');
    symlinkSync('../outside', at('own/out'));
    symlinkSync('../shipped', at('own/others'));
    symlinkSync('nowhere', at('own/nowhere'));
    symlinkSync('..', at('own/parent'));
    for (const path of ['out/x', 'out/deep/x', 'out/new/x', 'others/x', 'nowhere/x', 'parent/x', 'parent/own/x']) {
      const advice = {
        details: [{ path: 'path', message: expect.stringContaining('is a link that leads elsewhere') }],
      };
      await expect(store.write(path, pieces('x'))).rejects.toMatchObject({ advice });
    }
    for (const path of ['out/deep', 'out/deep/secret.onnx', 'others/iris.onnx', 'parent/outside']) {
      expect(await store.remove(path)).toBe(false);
    }
    expect(readdirSync(at('outside'))).toEqual(['deep']);
    expect(readdirSync(temporary.path).sort()).toEqual(['link', 'outside', 'own', 'shipped']);
    expect(await store.remove('out')).toBe(true);
    expect(readFileSync(at('outside/deep/secret.onnx'), 'utf8')).toBe('a model');
  });

  it('replaces a link, not what it leads to', async () => {
    const store = local();
    put('outside/secret.onnx');
    symlinkSync('../outside/secret.onnx', at('own/model.onnx'));
    await store.write('model.onnx', pieces('mine'));
    expect(readFileSync(at('outside/secret.onnx'), 'utf8')).toBe('a model');
    expect(readFileSync(at('own/model.onnx'), 'utf8')).toBe('mine');
  });

  it('says in words what the disk refuses', async () => {
    const store = local();
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    await expect(store.write('model.onnx', breakingOff(full))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('the disk is full'),
    });
    rmSync(at('own/.unfinished'), { recursive: true });
    put('own/.unfinished', 'in the way');
    await expect(store.write('model.onnx', pieces('x'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('cannot be written (EEXIST)'),
    });
    rmSync(at('own/.unfinished'));
    await expect(store.write('x'.repeat(256), pieces('x'))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('too long for the file system'),
    });
    expect(await paths(store)).toEqual([]);
  });

  it('looks at as many entries as it may, and says that there are more', async () => {
    const shipped = Array.from({ length: 101 }, (_, n) => `${n}.onnx`);
    const crowded = local(shipped, 'own', 100);
    const { files, truncated } = await crowded.list();
    expect({ count: files.length, truncated }).toEqual({ count: 100, truncated: true });
    expect(await crowded.list('77.onnx')).toMatchObject({ files: [{ path: '77.onnx' }], truncated: false });
  });

  it('forgets at a start what was not finished', async () => {
    const store = local();
    put('own/.unfinished/one-x/part');
    put('own/model.onnx');
    await removeUnfinished(at('own'), new Date(Date.now() + 3_600_000));
    expect(unfinished()).toEqual([]);
    expect(await paths(store)).toEqual(['model.onnx']);
  });
});
