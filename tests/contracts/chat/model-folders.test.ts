import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalModelFolders } from '../../../src/infrastructure/files/local-model-files.js';
import { MemoryModelFolders } from '../../fakes/chat/memory-model-folders.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { modelFoldersContract } from './model-folders.contract.js';

const temporary = new TemporaryFolder();
const at = (path: string) => join(temporary.path, path);
const made = ['models/chat', 'models/deep/er', 'models/in', 'models-private/chat', 'outside/below', 'second/chat'];

beforeAll(() => {
  for (const folder of [...made, 'second/more']) mkdirSync(at(folder), { recursive: true });
  symlinkSync('chat', at('models/link'));
  symlinkSync('../outside', at('models/out'));
  symlinkSync(at('outside'), at('models/in/out'));
  symlinkSync('models', at('link-to-models'));
  writeFileSync(at('models/file'), 'not a folder');
});
afterAll(() => temporary.remove());

const under = (folders: LocalModelFolders) => ({ folders, root: at('models'), outside: at('outside') });
modelFoldersContract('the file system', () => under(new LocalModelFolders([at('models')])));
modelFoldersContract('the file system, named by a link', () => under(new LocalModelFolders([at('link-to-models/')])));
modelFoldersContract('memory', () => {
  const real = {
    '/models/chat': '/models/chat',
    '/models/deep': '/models/deep',
    '/models/deep/er': '/models/deep/er',
    '/models/link': '/models/chat',
    '/models/out': '/outside',
    '/models/in': '/models/in',
    '/models/in/out': '/outside',
    '/models-private/chat': '/models-private/chat',
    '/outside': '/outside',
  };
  return { folders: new MemoryModelFolders(real), root: '/models', outside: '/outside' };
});

describe('ModelFolders of the file system', () => {
  it('looks through several models folders in their order', async () => {
    const folders = new LocalModelFolders([at('models'), at('second')]);
    expect(await folders.locate('chat')).toBe(at('models/chat'));
    expect(await folders.locate('more')).toBe(at('second/more'));
    expect(await folders.locate(at('second/chat'))).toBe(at('second/chat'));
  });

  it('takes one that is missing for empty', async () => {
    const folders = new LocalModelFolders([at('missing'), at('models')]);
    expect(await folders.locate('chat')).toBe(at('models/chat'));
    expect(await new LocalModelFolders([]).locate('/')).toBeNull();
  });

  it('looks at what there is at the moment', async () => {
    const folders = new LocalModelFolders([at('models')]);
    expect(await folders.locate('fresh')).toBeNull();
    mkdirSync(at('models/fresh'));
    expect(await folders.locate('fresh')).toBe(at('models/fresh'));
  });
});
