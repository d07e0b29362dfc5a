import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalModelFolders } from '../../../src/infrastructure/files/local-model-files.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const temporary = new TemporaryFolder();
const at = (path: string) => join(temporary.path, path);
const folders = (...roots: string[]) => new LocalModelFolders(roots.map(at));

beforeAll(() => {
  const models = ['models/chat', 'models/deep/er', 'models/in', 'second/chat', 'second/more'];
  for (const folder of [...models, 'models-private/chat', 'outside/below']) mkdirSync(at(folder), { recursive: true });
  symlinkSync('chat', at('models/link'));
  symlinkSync('../outside', at('models/out'));
  symlinkSync(at('outside'), at('models/in/out'));
  symlinkSync('models', at('link-to-models'));
  writeFileSync(at('models/file'), 'not a folder');
});
afterAll(() => temporary.remove());

describe.each(['models', 'link-to-models/'])('ModelFolders of the file system, in %s', (root) => {
  it.each(['chat', './chat', 'chat/', 'deep/../chat', 'deep/er/../../chat', 'link'])(
    'locates a folder, relative or absolute: %s',
    async (path) => {
      expect(await folders(root).locate(path)).toBe(at('models/chat'));
      expect(await folders(root).locate(at(`models/${path}`))).toBe(at('models/chat'));
    },
  );

  it('locates nothing that is missing, a file, or outside, also by a link', async () => {
    const missing = ['missing', 'chat/missing', 'x'.repeat(10_000), 'chat\0', '\0', 'file', 'file/chat', '~'];
    const outside = ['..', '../', '../models-private/chat', '../outside', 'out', 'in/out', 'out/below', 'in/out/below'];
    const absolute = [...missing, ...outside].map((path) => at(`models/${path}`));
    for (const path of [...missing, ...outside, ...absolute, '/', '/etc', at('outside'), at('models-private/chat')])
      expect([path, await folders(root).locate(path)]).toEqual([path, null]);
  });
});

it('looks through several models folders in their order, at what there is now', async () => {
  const both = folders('missing', 'models', 'second');
  expect(await both.locate('chat')).toBe(at('models/chat'));
  expect(await both.locate('more')).toBe(at('second/more'));
  expect(await both.locate(at('second/chat'))).toBe(at('second/chat'));
  expect(await both.locate('fresh')).toBeNull();
  mkdirSync(at('models/fresh'));
  expect(await both.locate('fresh')).toBe(at('models/fresh'));
  expect(await folders().locate('/')).toBeNull();
});
