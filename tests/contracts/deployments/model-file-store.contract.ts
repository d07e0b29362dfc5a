import { createHash } from 'node:crypto';
import type { ModelFileStore } from '../../../src/application/deployments/ports.js';
import { barrier } from '../../support/barrier.js';

type Open = (shipped: readonly string[], mostEntries?: number) => ModelFileStore;

/** `open` makes one that has nothing but the files of these paths, in a models folder that can't be written. */
export function modelFileStoreContract(adapter: string, open: Open) {
  describe(`ModelFileStore of ${adapter}`, () => {
    let store: ModelFileStore;
    beforeEach(() => {
      store = open(['shipped/iris.onnx']);
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

    it('looks at as many entries as it may, and says that there are more', async () => {
      const crowded = open(
        Array.from({ length: 101 }, (_, n) => `${n}.onnx`),
        100,
      );
      const { files, truncated } = await crowded.list();
      expect({ count: files.length, truncated }).toEqual({ count: 100, truncated: true });
      expect(await crowded.list('77.onnx')).toMatchObject({ files: [{ path: '77.onnx' }], truncated: false });
    });
  });
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 5) yield Buffer.from(text.slice(at, at + 5));
}

async function* heldBack(begun: () => Promise<void>, end: () => Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the beginning');
  await begun();
  await end();
  yield Buffer.from('the end');
}

async function* breakingOff(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the beginning');
  throw new Error('it broke off');
}
