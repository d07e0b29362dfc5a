import { execFileSync } from 'node:child_process';
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
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { breakingOff, modelFileStoreContract, pieces } from './model-file-store.contract.js';

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

modelFileStoreContract('of a folder', async () => local(['shipped/iris.onnx']));
modelFileStoreContract('of a link to a folder', async () => local(['shipped/iris.onnx'], 'link'));

describe('ModelFileStore of the file system', () => {
  const paths = async (store: LocalModelFileStore) => (await store.list()).files.map(({ path }) => path);
  const unfinished = () => (existsSync(at('own/.unfinished')) ? readdirSync(at('own/.unfinished')) : []);

  it('writes into its own folder, and leaves no parts of files there', async () => {
    const store = local();
    await store.write('a/b/model.onnx', pieces('content'));
    expect(readFileSync(at('own/a/b/model.onnx'), 'utf8')).toBe('content');
    await expect(store.write('c/model.onnx', breakingOff())).rejects.toThrow('it broke off');
    expect({ unfinished: unfinished(), own: readdirSync(at('own')).sort() }).toEqual({
      unfinished: [],
      own: ['.unfinished', 'a'],
    });
  });

  it('writes into a folder that is removed at the same time', async () => {
    const store = local();
    for (let round = 0; round < 20; round++) {
      await store.write('a/b/1', pieces('1'));
      const [removed] = await Promise.all([store.remove('a/b/1'), store.write('a/b/2', pieces('2'))]);
      expect({ removed, left: await paths(store) }).toEqual({ removed: true, left: ['a/b/2'] });
    }
  });

  it('gives other users of the machine no access to written files', async () => {
    await local().write('a/model.onnx', pieces('content'));
    const modes = ['own/a', 'own/a/model.onnx'].map((path) => statSync(at(path)).mode & 0o777);
    expect(modes).toEqual([0o750, 0o640].map((mode) => mode & ~process.umask()));
  });

  it('does not change a file for readers that opened it before', async () => {
    const store = local();
    await store.write('model.onnx', pieces('before'));
    const opened = openSync(at('own/model.onnx'), 'r');
    await store.write('model.onnx', pieces('after'));
    expect([readFileSync(opened, 'utf8'), readFileSync(at('own/model.onnx'), 'utf8')]).toEqual(['before', 'after']);
    closeSync(opened);
  });

  it('shows the file in the first folder if two have the same path', async () => {
    const store = local(['iris.onnx']);
    put('own/iris.onnx', 'another model');
    expect((await store.list()).files).toMatchObject([{ path: 'iris.onnx', size: 7, writable: false }]);
  });

  it('skips hidden files, pipes, loops, and links to the outside', async () => {
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
    expect(await store.uploadedBytes()).toBe('a model'.length); // a link takes no bytes
    for (const path of ['out', 'out/secret.onnx', 'loop', 'pipe.onnx']) {
      expect(await store.list(path)).toEqual({ files: [], truncated: false });
    }
  });

  it('does not write or remove through links that lead outside or nowhere', async () => {
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

  it('replaces a link, not its target', async () => {
    const store = local();
    put('outside/secret.onnx');
    symlinkSync('../outside/secret.onnx', at('own/model.onnx'));
    await store.write('model.onnx', pieces('mine'));
    expect(readFileSync(at('outside/secret.onnx'), 'utf8')).toBe('a model');
    expect(readFileSync(at('own/model.onnx'), 'utf8')).toBe('mine');
  });

  it('explains in words why the disk refuses a file', async () => {
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

  it('stops at its limit of entries, and reports that there are more', async () => {
    const shipped = Array.from({ length: 101 }, (_, n) => `${n}.onnx`);
    const crowded = local(shipped, 'own', 100);
    const { files, truncated } = await crowded.list();
    expect({ count: files.length, truncated }).toEqual({ count: 100, truncated: true });
    expect(await crowded.list('77.onnx')).toMatchObject({ files: [{ path: '77.onnx' }], truncated: false });
    for (let n = 0; n < 101; n++) put(`own/${n}.bin`, 'xy');
    expect(await crowded.uploadedBytes()).toBe(202);
  });

  it('removes unfinished files at the start', async () => {
    const store = local();
    put('own/.unfinished/one-x/part');
    put('own/model.onnx');
    await removeUnfinished(at('own'), new Date(Date.now() + 3_600_000));
    expect(unfinished()).toEqual([]);
    expect(await paths(store)).toEqual(['model.onnx']);
  });
});
