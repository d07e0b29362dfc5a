import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { LocalModelFileResolver } from '../../../src/infrastructure/files/local-model-files.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { modelFileResolverContract } from './model-file-resolver.contract.js';

const temporary = new TemporaryFolder();
const at = (path: string) => join(temporary.path, path);

beforeAll(() => {
  const models = ['models/chat', 'models/deep/er', 'models/folder.onnx', 'models/in', 'second/chat', 'second/more'];
  for (const folder of [...models, 'models-private/chat', 'outside/below']) mkdirSync(at(folder), { recursive: true });
  const files = ['models/iris.onnx', 'models/deep/er.onnx', 'models/iris.bin', 'models-private/iris.onnx'];
  for (const file of [...files, 'outside.onnx', 'second/iris.onnx', 'second/more.onnx', 'second/empty.onnx'])
    writeFileSync(at(file), 'a model');
  writeFileSync(at('models/empty.onnx'), '');
  symlinkSync('iris.onnx', at('models/link.onnx'));
  symlinkSync('../outside.onnx', at('models/out.onnx'));
  symlinkSync('chat', at('models/link'));
  symlinkSync('../outside', at('models/out'));
  symlinkSync(at('outside'), at('models/in/out'));
  symlinkSync('models', at('link-to-models'));
});
afterAll(() => temporary.remove());

const invalid = { code: 'model_file_invalid' };

describe.each(['models', 'link-to-models/'])('ModelFileResolver of the file system, in %s', (folder) => {
  let files: LocalModelFileResolver;
  beforeEach(() => {
    files = new LocalModelFileResolver([at(folder)]);
  });
  const inside = (path: string) => at(`models/${path}`);

  it.each(['iris.onnx', './iris.onnx', 'link.onnx', 'deep/er.onnx'])('locates a file: %s', async (path) => {
    const real = inside(path.includes('er.onnx') ? 'deep/er.onnx' : 'iris.onnx');
    expect((await files.materializeFile(path)).path).toBe(real);
    expect((await files.materializeFile(inside(path))).path).toBe(real);
  });

  it('refuses a missing file', async () => {
    for (const path of ['missing.onnx', 'iris.onnx/x.onnx', '', 'x'.repeat(10_000), 'iris.onnx\0', '\0'])
      await expect(files.materializeFile(path)).rejects.toMatchObject(invalid);
  });

  it('refuses files outside, also through a link, and does not reveal whether they exist', async () => {
    for (const path of [at('models-private/iris.onnx'), '/etc/passwd', at(''), 'out.onnx', inside('out.onnx')])
      await expect(files.materializeFile(path)).rejects.toMatchObject(invalid);
    await expect(files.materializeFile('out.onnx')).rejects.toThrow('outside the models folders');
    const words = (path: string) => files.materializeFile(path).catch(({ message }: Error) => message);
    expect(await words(at('outside.onnx'))).toBe(await words(at('outside.onnx-missing.onnx')));
  });

  it('refuses every path with a `..` segment, relative or absolute', async () => {
    const around = ['..', 'deep/../iris.onnx', 'missing/../iris.onnx', '../models-private/iris.onnx'];
    for (const path of [...around, ...around.map((one) => `${at('models')}/${one}`)]) {
      await expect(files.materializeFile(path)).rejects.toMatchObject(invalid);
      await expect(files.materializeFile(path)).rejects.toThrow('`..`');
    }
  });

  it.each([
    ['folder.onnx', 'a folder'],
    ['.', /./],
    ['iris.bin', '.onnx'],
    ['empty.onnx', 'empty'],
  ])('refuses a file that cannot be a model, and says why: %s', async (path, why) => {
    await expect(files.materializeFile(path)).rejects.toThrow(why);
    await expect(files.materializeFile(path)).rejects.toMatchObject(invalid);
  });
});

modelFileResolverContract('of the file system', async () => {
  rmSync(at('stored'), { recursive: true, force: true });
  const put = async (path: string, content: string) => {
    mkdirSync(dirname(at(`stored/${path}`)), { recursive: true });
    writeFileSync(at(`stored/${path}`), content);
  };
  return { resolver: new LocalModelFileResolver([at('stored')]), put };
});

describe('ModelFileResolver of the file system', () => {
  const files = () => new LocalModelFileResolver([at('models'), at('second'), at('not-there')]);

  it('searches several models folders in their order', async () => {
    expect((await files().materializeFile('iris.onnx')).path).toBe(at('models/iris.onnx'));
    expect((await files().materializeFile('more.onnx')).path).toBe(at('second/more.onnx'));
    expect((await files().materializeFile('empty.onnx')).path).toBe(at('second/empty.onnx'));
  });

  it('refuses pipes, sockets, devices and loops of links at once', async () => {
    execFileSync('mkfifo', [at('models/pipe.onnx')]);
    symlinkSync('loop.onnx', at('models/loop.onnx'));
    const server = createServer().listen(at('models/socket.onnx'));
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(files().materializeFile('pipe.onnx')).rejects.toThrow('a named pipe');
    await expect(files().materializeFile('socket.onnx')).rejects.toThrow('a socket');
    await expect(files().materializeFile('loop.onnx')).rejects.toThrow('no such file');
    await expect(new LocalModelFileResolver(['/dev']).materializeFile('null')).rejects.toThrow('a device');
    server.close();
  });

  it('refuses files that are too large or sparse', async () => {
    for (const [file, size] of [
      ['models/monster.onnx', 2 ** 40],
      ['models/holes.onnx', 2 ** 30],
    ] as const) {
      writeFileSync(at(file), 'a model');
      truncateSync(at(file), size);
    }
    await expect(files().materializeFile('monster.onnx')).rejects.toThrow(/1099511627776 bytes; 8589934592/);
    await expect(files().materializeFile('holes.onnx')).rejects.toThrow('mostly holes');
  });
});

const folders = (...roots: string[]) => {
  const files = new LocalModelFileResolver(roots.map(at));
  const locate = async (path: string) => {
    const found = (await files.materializeFolder(path))?.path ?? null;
    expect(await files.hasFolder(path)).toBe(found !== null);
    return found;
  };
  return { locate };
};

describe.each(['models', 'link-to-models/'])('ModelFileResolver of the file system, folders, in %s', (root) => {
  it.each(['chat', './chat', 'chat/', 'deep/../chat', 'deep/er/../../chat', 'link'])(
    'locates a folder, relative or absolute: %s',
    async (path) => {
      expect(await folders(root).locate(path)).toBe(at('models/chat'));
      expect(await folders(root).locate(at(`models/${path}`))).toBe(at('models/chat'));
    },
  );

  it('locates no missing folder, no file, and no folder outside, also not through a link', async () => {
    const missing = ['missing', 'chat/missing', 'x'.repeat(10_000), 'chat\0', '\0', 'iris.bin', 'iris.bin/chat', '~'];
    const outside = ['..', '../', '../models-private/chat', '../outside', 'out', 'in/out', 'out/below', 'in/out/below'];
    const absolute = [...missing, ...outside].map((path) => at(`models/${path}`));
    for (const path of [...missing, ...outside, ...absolute, '/', '/etc', at('outside'), at('models-private/chat')])
      expect([path, await folders(root).locate(path)]).toEqual([path, null]);
  });
});

it('materializeFolder searches several models folders in their order, and again at each call', async () => {
  const both = folders('missing', 'models', 'second');
  expect(await both.locate('chat')).toBe(at('models/chat'));
  expect(await both.locate('more')).toBe(at('second/more'));
  expect(await both.locate(at('second/chat'))).toBe(at('second/chat'));
  expect(await both.locate('fresh')).toBeNull();
  mkdirSync(at('models/fresh'));
  expect(await both.locate('fresh')).toBe(at('models/fresh'));
  expect(await folders().locate('/')).toBeNull();
});
