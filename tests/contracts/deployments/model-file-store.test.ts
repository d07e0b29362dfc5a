import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LocalModelFileStore, removeUnfinished } from '../../../src/infrastructure/files/local-model-file-store.js';
import { MemoryModelFileStore } from '../../fakes/deployments/memory-model-file-store.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { modelFileStoreContract } from './model-file-store.contract.js';

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

modelFileStoreContract('the file system', (shipped, most) => local(shipped, 'own', most));
modelFileStoreContract('the file system, named by a link', (shipped, most) => local(shipped, 'link', most));
modelFileStoreContract(
  'memory',
  (shipped, most) => new MemoryModelFileStore(new ManualClock(new Date(0)), shipped, most),
);

describe('ModelFileStore of the file system', () => {
  const paths = async (store: LocalModelFileStore) => (await store.list()).files.map(({ path }) => path);
  async function* text(content: string) {
    yield Buffer.from(content);
  }
  async function* failing(error: Error) {
    yield Buffer.from('the beginning');
    throw error;
  }
  const unfinished = () => (existsSync(at('own/.unfinished')) ? readdirSync(at('own/.unfinished')) : []);

  it('writes into the folder that it is told to, and leaves nothing else there', async () => {
    const store = local();
    await store.write('a/b/model.onnx', text('content'));
    expect(readFileSync(at('own/a/b/model.onnx'), 'utf8')).toBe('content');
    await expect(store.write('c/model.onnx', failing(new Error('it broke off')))).rejects.toThrow('it broke off');
    expect({ unfinished: unfinished(), own: readdirSync(at('own')).sort() }).toEqual({
      unfinished: [],
      own: ['.unfinished', 'a'],
    });
  });

  it('lets whoever has opened the file before go on with it', async () => {
    const store = local();
    await store.write('model.onnx', text('before'));
    const opened = openSync(at('own/model.onnx'), 'r');
    await store.write('model.onnx', text('after'));
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
      await expect(store.write(path, text('x'))).rejects.toMatchObject({ advice });
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
    await store.write('model.onnx', text('mine'));
    expect(readFileSync(at('outside/secret.onnx'), 'utf8')).toBe('a model');
    expect(readFileSync(at('own/model.onnx'), 'utf8')).toBe('mine');
  });

  it('says in words what the disk refuses', async () => {
    const store = local();
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    await expect(store.write('model.onnx', failing(full))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('the disk is full'),
    });
    rmSync(at('own/.unfinished'), { recursive: true });
    put('own/.unfinished', 'in the way');
    await expect(store.write('model.onnx', text('x'))).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('cannot be written (EEXIST)'),
    });
    rmSync(at('own/.unfinished'));
    await expect(store.write('x'.repeat(256), text('x'))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('too long for the file system'),
    });
    expect(await paths(store)).toEqual([]);
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
