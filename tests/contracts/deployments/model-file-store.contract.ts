import { createHash } from 'node:crypto';
import type { ModelFileStore, WrittenFile } from '../../../src/application/deployments/ports.js';
import { barrier } from '../../support/barrier.js';

/** Tests ModelFileStore. A created store contains only `shipped/iris.onnx` ("a model"), which is read-only. */
export function modelFileStoreContract(name: string, create: () => Promise<ModelFileStore>): void {
  describe(`ModelFileStore ${name}`, () => {
    let store: ModelFileStore;
    beforeEach(async () => {
      store = await create();
    });

    const write = (path: string, text = path) => store.write(path, pieces(text));
    const paths = async (at?: string) => (await store.list(at)).files.map(({ path }) => path);

    it('stores a file, and returns its size and digest', async () => {
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

    it('opens listed files, and an open file stays readable or throws after a replacement', async () => {
      const text = async (path: string) => {
        const file = await store.open(path);
        if (!file) return null;
        try {
          return [await textOf(file.chunks()), await textOf(file.chunks())];
        } finally {
          await file.close();
        }
      };
      await write('mine/model.onnx', 'mine');
      expect(await text('mine/model.onnx')).toEqual(['mine', 'mine']);
      expect(await text('shipped/iris.onnx')).toEqual(['a model', 'a model']);
      for (const path of ['mine', 'missing', 'mine/model.onnx/x']) expect(await text(path)).toBeNull();
      const file = await store.open('mine/model.onnx');
      await write('mine/model.onnx', 'another');
      const [read] = await Promise.allSettled([textOf(file?.chunks() ?? [])]);
      expect(read).toMatchObject(
        read?.status === 'fulfilled' ? { value: 'mine' } : { reason: { code: 'storage_unavailable' } },
      );
      await file?.close();
    });

    it('lists all files, a folder or a file, sorted by path', async () => {
      for (const path of ['b/2', 'a-c', 'b/1', 'a/x', 'b-1', 'ä']) await write(path);
      expect(await paths()).toEqual(['a-c', 'a/x', 'b-1', 'b/1', 'b/2', 'shipped/iris.onnx', 'ä']);
      expect(await paths('b')).toEqual(['b/1', 'b/2']);
      expect(await paths('b/1')).toEqual(['b/1']);
      expect(await paths('shipped')).toEqual(['shipped/iris.onnx']);
      expect(await paths('shipped/iris.onnx')).toEqual(['shipped/iris.onnx']);
      for (const nothing of ['missing', 'b/1/x', 'b/3', 'a/x/y/z']) expect(await paths(nothing)).toEqual([]);
    });

    it('counts the bytes of uploaded files, without one of them', async () => {
      expect(await store.uploadedBytes()).toBe(0);
      for (const path of ['mine/1', 'mine/deep/2', '3']) await write(path);
      expect(await store.uploadedBytes()).toBe(18);
      expect([await store.uploadedBytes('mine/1'), await store.uploadedBytes('mine')]).toEqual([12, 18]);
    });

    it('does not show a file before it is complete', async () => {
      const [begun, end] = [barrier(2), barrier(2)];
      const writing = store.write('slow.onnx', heldBack(begun, end));
      await begun();
      expect(await paths()).toEqual(['shipped/iris.onnx']);
      await end();
      await writing;
      expect(await paths()).toEqual(['shipped/iris.onnx', 'slow.onnx']);
    });

    it('keeps no part of an interrupted write, and keeps the earlier file', async () => {
      await write('kept.onnx', 'before');
      for (const path of ['kept.onnx', 'new.onnx', 'deep/er/new.onnx']) {
        await expect(store.write(path, breakingOff())).rejects.toThrow('it broke off');
      }
      expect((await store.list()).files).toMatchObject([{ path: 'kept.onnx', size: 6 }, { path: 'shipped/iris.onnx' }]);
    });

    it('refuses to write over a folder or below a file', async () => {
      await write('mine/model.onnx');
      for (const path of ['mine', 'mine/model.onnx/below', 'mine/model.onnx/far/below']) {
        await expect(write(path)).rejects.toMatchObject({
          code: 'invalid_request',
          advice: { details: [{ path: 'path' }] },
        });
      }
      expect(await paths('mine')).toEqual(['mine/model.onnx']);
    });

    it('keeps one of two racing writes if the path of one lies below the path of the other', async () => {
      for (const first of ['mine', 'mine/model.onnx', null]) {
        const [begun, ends] = [barrier(3), { mine: barrier(2), 'mine/model.onnx': barrier(2) }];
        const [upper, lower] = (['mine', 'mine/model.onnx'] as const).map((path) =>
          store.write(path, heldBack(begun, ends[path])),
        ) as [Promise<WrittenFile>, Promise<WrittenFile>];
        const settled = Promise.allSettled([upper, lower]);
        await begun();
        if (first !== 'mine/model.onnx') await ends.mine();
        if (first === 'mine') await upper;
        await ends['mine/model.onnx']();
        if (first === 'mine/model.onnx') {
          await lower;
          await ends.mine();
        }
        const [one, other] = await settled;
        const wins = one.status === 'fulfilled' ? 'mine' : 'mine/model.onnx';
        expect([one.status, other.status].sort()).toEqual(['fulfilled', 'rejected']);
        expect([one, other]).toContainEqual(
          expect.objectContaining({ reason: expect.objectContaining({ code: 'invalid_request' }) }),
        );
        expect(wins).toBe(first ?? wins);
        expect(await paths()).toEqual([wins, 'shipped/iris.onnx']);
        expect(await store.remove(wins)).toBe(true);
        expect(await paths()).toEqual(['shipped/iris.onnx']);
      }
    });

    it('removes a file and the parent folders that are empty then', async () => {
      for (const path of ['a/b/1', 'a/2']) await write(path);
      expect(await store.remove('a/b/1')).toBe(true);
      expect(await store.remove('a/b/1')).toBe(false);
      expect(await paths('a')).toEqual(['a/2']);
      expect(await write('a/b')).toMatchObject({ replaced: false });
    });

    it('removes a folder with its content', async () => {
      for (const path of ['mine/1', 'mine/deep/2', 'mine-too']) await write(path);
      expect(await store.remove('mine')).toBe(true);
      expect(await paths()).toEqual(['mine-too', 'shipped/iris.onnx']);
      expect(await write('mine')).toMatchObject({ replaced: false });
    });

    it('removes no missing and no read-only file', async () => {
      await write('mine/1');
      for (const path of ['missing', 'mine/missing', 'mine/1/x', 'shipped', 'shipped/iris.onnx']) {
        expect(await store.remove(path)).toBe(false);
      }
      expect(await paths()).toEqual(['mine/1', 'shipped/iris.onnx']);
    });
  });
}

export async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += 5) yield Buffer.from(text.slice(at, at + 5));
}

export async function* heldBack(begun: () => Promise<void>, end: () => Promise<void>): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the beginning');
  await begun();
  await end();
  yield Buffer.from('the end');
}

export async function* breakingOff(error = new Error('it broke off')): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the beginning');
  throw error;
}

export async function textOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}
