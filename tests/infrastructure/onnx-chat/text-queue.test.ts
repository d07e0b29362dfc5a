import { TextQueue } from '../../../src/infrastructure/onnx-chat/worker/embedding/text-queue.js';

/** Makes a text of `length` tokens. The encoder of these tests returns the length of a text as its vector. */
const text = (length: number) => new Int32Array(length).fill(length);

describe('a queue of texts', () => {
  let batches: number[][];
  let fails: (rows: readonly Int32Array[]) => boolean;
  const queueOf = (most = 64) =>
    new TextQueue(async (rows) => {
      batches.push(rows.map(({ length }) => length));
      if (fails(rows)) throw new Error('it failed');
      return rows.map(({ length }) => Float32Array.of(length));
    }, most);
  beforeEach(() => {
    batches = [];
    fails = () => false;
  });
  const lengths = (vectors: Float32Array[] | null) => vectors?.map(([length]) => length);

  it('reads texts of similar lengths together, and gives the vectors back in the order of the texts', async () => {
    const texts = [300, 5, 200, 6, 700, 7];
    expect(lengths(await queueOf().embed(1, 'a', texts.map(text)))).toEqual(texts);
    expect(batches).toEqual([[5, 6, 7], [200], [300], [700]]);
  });

  it('reads texts one by one for a model that needs it', async () => {
    await queueOf(1).embed(1, 'a', [text(3), text(3)]);
    expect(batches).toEqual([[3], [3]]);
  });

  it('serves callers in turns, and fills a batch with texts of several callers', async () => {
    const queue = queueOf();
    const done: string[] = [];
    const embed = async (call: number, caller: string, texts: Int32Array[]) => {
      await queue.embed(call, caller, texts);
      done.push(caller);
    };
    await Promise.all([
      embed(1, 'many', Array(1_000).fill(text(100))),
      embed(2, 'one', [text(400)]),
      embed(3, 'other', [text(90)]),
    ]);
    expect(done).toEqual(['one', 'other', 'many']);
    expect(batches.slice(0, 3)).toEqual([[100, 100, 100, 100, 100], [400], expect.arrayContaining([90, 100])]);
  });

  it('fails only the call with the faulty text, and drops cancelled ones', async () => {
    const queue = queueOf();
    fails = (rows) => rows.some(({ length }) => length === 13);
    const faulty = queue.embed(1, 'a', [text(13), text(12)]);
    const whole = queue.embed(2, 'b', [text(14)]);
    const cancelled = queue.embed(3, 'b', [text(14), text(15)]);
    queue.cancel(3);
    await expect(faulty).rejects.toThrow('it failed');
    expect(lengths(await whole)).toEqual([14]);
    expect(await cancelled).toBeNull();
    expect(batches.flat()).not.toContain(15);
  });
});
