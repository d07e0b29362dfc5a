import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { LocalModelFileResolver } from '../../../src/infrastructure/files/local-model-files.js';
import { MemoryModelFileResolver } from '../../fakes/deployments/memory-model-file-resolver.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { modelFileResolverContract } from './model-file-resolver.contract.js';

const temporary = new TemporaryFolder();
const at = (path: string) => join(temporary.path, path);

beforeAll(() => {
  for (const folder of ['models/deep', 'models/folder.onnx', 'models-private', 'second'])
    mkdirSync(at(folder), { recursive: true });
  const files = ['models/iris.onnx', 'models/deep/er.onnx', 'models/iris.bin', 'models-private/iris.onnx'];
  for (const file of [...files, 'outside.onnx', 'second/iris.onnx', 'second/more.onnx', 'second/empty.onnx'])
    writeFileSync(at(file), 'a model');
  writeFileSync(at('models/empty.onnx'), '');
  symlinkSync('iris.onnx', at('models/link.onnx'));
  symlinkSync('../outside.onnx', at('models/out.onnx'));
  symlinkSync('models', at('link-to-models'));
});
afterAll(() => temporary.remove());

const under = (files: LocalModelFileResolver) => ({ files, root: at('models'), outside: at('outside.onnx') });
modelFileResolverContract('the file system', () => under(new LocalModelFileResolver([at('models')])));
modelFileResolverContract('the file system, named by a link', () =>
  under(new LocalModelFileResolver([at('link-to-models/')])),
);
modelFileResolverContract('memory', () => {
  const known = {
    '/models': { wrong: 'a folder' },
    '/models/iris.onnx': { file: '/models/iris.onnx' },
    '/models/link.onnx': { file: '/models/iris.onnx' },
    '/models/deep/er.onnx': { file: '/models/deep/er.onnx' },
    '/models/out.onnx': { file: '/outside.onnx' },
    '/models/folder.onnx': { wrong: 'a folder' },
    '/models/iris.bin': { wrong: 'its name does not end in .onnx' },
    '/models/empty.onnx': { wrong: 'it is empty' },
  };
  return { files: new MemoryModelFileResolver(known), root: '/models', outside: '/outside.onnx' };
});

describe('ModelFileResolver of the file system', () => {
  const files = () => new LocalModelFileResolver([at('models'), at('second'), at('not-there')]);

  it('looks through several models folders in their order', async () => {
    expect(await files().locate('iris.onnx')).toBe(at('models/iris.onnx'));
    expect(await files().locate('more.onnx')).toBe(at('second/more.onnx'));
    expect(await files().locate('empty.onnx')).toBe(at('second/empty.onnx'));
  });

  it('refuses pipes, sockets, devices and loops of links at once', async () => {
    execFileSync('mkfifo', [at('models/pipe.onnx')]);
    symlinkSync('loop.onnx', at('models/loop.onnx'));
    const server = createServer().listen(at('models/socket.onnx'));
    await new Promise((resolve) => server.once('listening', resolve));
    await expect(files().locate('pipe.onnx')).rejects.toThrow('a named pipe');
    await expect(files().locate('socket.onnx')).rejects.toThrow('a socket');
    await expect(files().locate('loop.onnx')).rejects.toThrow('no such file');
    await expect(new LocalModelFileResolver(['/dev']).locate('null')).rejects.toThrow('a device');
    server.close();
  });

  it('refuses what is too large, and what is mostly holes', async () => {
    for (const [file, size] of [
      ['models/monster.onnx', 2 ** 40],
      ['models/holes.onnx', 2 ** 30],
    ] as const) {
      writeFileSync(at(file), 'a model');
      truncateSync(at(file), size);
    }
    await expect(files().locate('monster.onnx')).rejects.toThrow(/1099511627776 bytes; 8589934592/);
    await expect(files().locate('holes.onnx')).rejects.toThrow('mostly holes');
  });
});
