import { basename, dirname, join } from 'node:path';
import type { ModelFolders } from '../../../src/application/chat/ports.js';

/**
 * What there is: the models folder has `chat`, `deep/er`, `link` (to `chat`), `out` (a link to a folder outside), `in/out`
 * (a link to what lies outside) and the file `file`. Beside it stands a folder whose path begins like its own, `…-private/chat`.
 */
export interface ModelFoldersUnderTest {
  readonly folders: ModelFolders;
  /** The models folder's absolute path, without links. */
  readonly root: string;
  /** The absolute path of the folder outside that `out` leads to. */
  readonly outside: string;
}

export function modelFoldersContract(adapter: string, open: () => ModelFoldersUnderTest) {
  describe(`ModelFolders of ${adapter}`, () => {
    let folders: ModelFolders;
    let root: string;
    let outside: string;
    beforeEach(() => {
      ({ folders, root, outside } = open());
    });

    it.each(['chat', 'deep/er', './chat', 'chat/', 'deep/../chat', 'deep/er/../../chat'])(
      'locates a folder relative to a models folder: %s',
      async (path) => {
        expect(await folders.locate(path)).toBe(join(root, path.includes('chat') ? 'chat' : 'deep/er'));
      },
    );

    it('locates a folder by its absolute path within a models folder', async () => {
      expect(await folders.locate(join(root, 'chat'))).toBe(join(root, 'chat'));
      expect(await folders.locate(`${root}/deep/../chat`)).toBe(join(root, 'chat'));
    });

    it('follows links, and answers where they lead', async () => {
      expect(await folders.locate('link')).toBe(join(root, 'chat'));
      expect(await folders.locate(join(root, 'link'))).toBe(join(root, 'chat'));
    });

    it('locates nothing that is not there', async () => {
      for (const path of ['missing', 'chat/missing', join(root, 'missing'), 'x'.repeat(10_000), 'chat\0', '\0'])
        expect(await folders.locate(path)).toBeNull();
    });

    it('locates no file', async () => {
      expect(await folders.locate('file')).toBeNull();
      expect(await folders.locate(join(root, 'file'))).toBeNull();
      expect(await folders.locate('file/chat')).toBeNull();
    });

    it('locates nothing outside of the models folders', async () => {
      const around = ['..', '../', `../${basename(root)}-private/chat`, '/', '/etc', '~', dirname(root)];
      for (const path of [...around, outside, `${root}-private/chat`, `${root}/../${basename(outside)}`])
        expect(await folders.locate(path)).toBeNull();
    });

    it('locates nothing outside by a link', async () => {
      for (const path of ['out', 'in/out', join(root, 'out'), 'out/below', join(root, 'in/out/below')])
        expect(await folders.locate(path)).toBeNull();
    });
  });
}
