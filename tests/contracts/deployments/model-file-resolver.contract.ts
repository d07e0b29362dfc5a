import { basename, dirname, join } from 'node:path';
import type { ModelFileResolver } from '../../../src/application/deployments/ports.js';

/**
 * What there is: the models folder has `iris.onnx`, `deep/er.onnx`, `link.onnx` (to `iris.onnx`), `out.onnx` (a link to a
 * file outside), `folder.onnx` (a folder), `iris.bin` and `empty.onnx`. Beside it stands a folder whose path begins like
 * its own, `…-private`, with an `iris.onnx`.
 */
export interface ModelFilesUnderTest {
  readonly files: ModelFileResolver;
  /** The models folder's absolute path, without links. */
  readonly root: string;
  /** The absolute path of the file outside that `out.onnx` leads to. */
  readonly outside: string;
}

export function modelFileResolverContract(adapter: string, open: () => ModelFilesUnderTest) {
  describe(`ModelFileResolver of ${adapter}`, () => {
    let files: ModelFileResolver;
    let root: string;
    let outside: string;
    beforeEach(() => {
      ({ files, root, outside } = open());
    });

    it.each(['iris.onnx', './iris.onnx', 'link.onnx', 'deep/er.onnx'])(
      'locates a file relative to a models folder, or absolute within one: %s',
      async (path) => {
        const real = join(root, path.includes('er.onnx') ? 'deep/er.onnx' : 'iris.onnx');
        expect(await files.locate(path)).toBe(real);
        expect(await files.locate(join(root, path))).toBe(real);
      },
    );

    it('refuses what is not there', async () => {
      for (const path of ['missing.onnx', 'iris.onnx/x.onnx', '', 'x'.repeat(10_000), 'iris.onnx\0', '\0'])
        await expect(files.locate(path)).rejects.toMatchObject({ code: 'model_file_invalid' });
    });

    it('refuses what lies outside of the models folders, by a link too', async () => {
      const around = [`${root}-private/iris.onnx`, '/etc/passwd', dirname(root)];
      for (const path of [...around, outside, 'out.onnx', join(root, 'out.onnx')])
        await expect(files.locate(path)).rejects.toMatchObject({ code: 'model_file_invalid' });
      await expect(files.locate('out.onnx')).rejects.toThrow('outside the models folders');
    });

    it('does not tell of an absolute path outside whether there is such a file', async () => {
      const words = (path: string) => files.locate(path).catch(({ message }: Error) => message);
      expect(await words(outside)).toBe(await words(`${outside}-missing.onnx`));
    });

    it('refuses every path with a `..` segment, relative or absolute', async () => {
      const around = ['..', 'deep/../iris.onnx', 'missing/../iris.onnx', `../${basename(root)}-private/iris.onnx`];
      for (const path of [...around, ...around.map((one) => `${root}/${one}`), `${root}/../${basename(outside)}`]) {
        await expect(files.locate(path)).rejects.toMatchObject({ code: 'model_file_invalid' });
        await expect(files.locate(path)).rejects.toThrow('`..`');
      }
    });

    it.each([
      ['folder.onnx', 'a folder'],
      ['.', /./],
      ['iris.bin', '.onnx'],
      ['empty.onnx', 'empty'],
    ])('refuses what can be no model, and says why: %s', async (path, why) => {
      await expect(files.locate(path)).rejects.toThrow(why);
      await expect(files.locate(path)).rejects.toMatchObject({ code: 'model_file_invalid' });
    });
  });
}
