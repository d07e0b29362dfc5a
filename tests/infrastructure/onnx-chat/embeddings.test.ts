import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor } from 'onnxruntime-node';
import { TextQueue } from '../../../src/infrastructure/onnx-chat/worker/embedding/text-queue.js';
import { ChildRuntimesRig } from '../../support/onnx/child-runtimes-rig.js';
import { directRun } from '../../support/onnx/direct-run.js';
import { encoder } from '../../support/onnx/encoder.js';
import { tinyEmbed } from '../../support/onnx/model-folders.js';
import { unlimited } from '../../support/records.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const size = { vocabulary: 2_048, hidden: 32, layers: 2, heads: 4, inner: 64, context: 512 };

describe('embeddings of ONNX models', () => {
  const root = new TemporaryFolder();
  const rig = new ChildRuntimesRig({ atOnce: 16, queue: 16 });
  let copies = 0;
  afterAll(async () => {
    await rig.runtimes.close();
    root.remove();
  });

  /** Copies tiny-embed with these files instead of its own. Null removes a file. Returns the folder. */
  function folder(files: Readonly<Record<string, object | Buffer | null>>): string {
    copies += 1;
    const path = join(root.path, `model-${copies}`);
    cpSync(tinyEmbed, path, { recursive: true });
    for (const [file, content] of Object.entries(files)) {
      const isText = content !== null && !Buffer.isBuffer(content);
      mkdirSync(join(path, file, '..'), { recursive: true });
      if (content === null) rmSync(join(path, file));
      else writeFileSync(join(path, file), isText ? JSON.stringify(content) : content);
    }
    return path;
  }

  const embed = async (texts: readonly string[], caller = 'usr_a', id = 'a') =>
    (
      await rig.runtimes.embed(id, { texts }, { caller, signal: new AbortController().signal, memory: unlimited })
    ).vectors.map((one) => [...one]);
  const length = (vector: readonly number[] = []) => Math.hypot(...vector);
  const cosine = (a: readonly number[] = [], b: readonly number[] = []) =>
    a.reduce((sum, one, i) => sum + one * (b[i] ?? 0), 0) / (length(a) * length(b));
  const type = (name: string) => ({
    path: name === 'Pooling' ? '1_Pooling' : '',
    type: `sentence_transformers.models.${name}`,
  });
  const modules = (...names: string[]) => ['Transformer', 'Pooling', ...names].map(type);

  it('of the shipped model are near for similar texts, and have the length 1', async () => {
    await rig.start(tinyEmbed);
    const [cat, dog, price, ...odd] = await embed([
      'a cat and a kitten',
      'two dogs',
      'the bank pays a loan',
      'Zürich ☃',
      '?',
    ]);
    expect(cosine(cat, dog)).toBeGreaterThan(cosine(cat, price) + 0.3);
    for (const vector of [cat, dog, price, ...odd]) expect(length(vector)).toBeCloseTo(1, 5);
  });

  const texts = ['cat', 'a very long text about the weather in the town of Paris', 'x y z', 'the price of bread'];
  it.each([
    ['mean', { pooling_mode_mean_tokens: true }, ['Normalize']],
    ['mean', null, []],
    ['cls', { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, []],
    ['last', { pooling_mode_lasttoken: true }, ['Normalize']],
  ] as const)('equal the network’s output for each text alone: %s of the tokens (%#)', async (mode, pooling, more) => {
    const file = encoder(size);
    const path = folder({
      'onnx/model.onnx': file,
      '1_Pooling/config.json': pooling,
      'modules.json': pooling ? modules(...more) : null,
    });
    expect(await rig.start(path)).toMatchObject({ state: 'ready', task: 'embedding' });
    const vectors = await embed(texts);
    const { model } = JSON.parse(JSON.stringify(require(join(path, 'tokenizer.json'))));
    const ids = ['[CLS]', 'cat', '[SEP]'].map((token) => BigInt(model.vocab[token]));
    const tensor = (data: bigint[]) => new Tensor(BigInt64Array.from(data), [1, 3]);
    // This run has the first text alone, without padding.
    const { last_hidden_state: states } = await directRun(join(path, 'onnx/model.onnx'), {
      input_ids: tensor(ids),
      attention_mask: tensor([1n, 1n, 1n]),
      token_type_ids: tensor([0n, 0n, 0n]),
    });
    const tokens = [0, 1, 2].map((i) =>
      [...((states as Tensor).data as Float32Array)].slice(i * size.hidden, (i + 1) * size.hidden),
    );
    const mean = (tokens[0] as number[]).map((_, i) => tokens.reduce((sum, one) => sum + (one[i] as number), 0) / 3);
    const pooled = { mean, cls: tokens[0] as number[], last: tokens[2] as number[] }[mode];
    const scale = more.length > 0 ? length(pooled) : 1;
    for (const [i, value] of pooled.entries())
      expect(Math.abs(value / scale - (vectors[0]?.[i] ?? NaN))).toBeLessThan(1e-4);
  });

  it('do not depend on the other texts, even if the network ignores the mask', async () => {
    await rig.start(folder({ 'onnx/model.onnx': encoder({ ...size, unmasked: true }) }));
    const together = await embed(texts);
    for (const [i, text] of texts.entries()) expect(await embed([text])).toEqual([together[i]]);
  });

  const noModules = { 'modules.json': null, '1_Pooling/config.json': null };
  it.each<[string, Parameters<typeof folder>[0], RegExp]>([
    [
      'two poolings',
      { '1_Pooling/config.json': { pooling_mode_mean_tokens: true, pooling_mode_max_tokens: true } },
      /pooling: 1_Pooling/,
    ],
    ['an unknown module', { 'modules.json': modules('Dense') }, /modules: .*Dense/],
    ['a pooling elsewhere', { 'modules.json': [{ ...type('Pooling'), path: '../..' }] }, /pooling: .*outside/],
    ['no tokenizer', { 'tokenizer.json': null }, /tokenizer: tokenizer.json is missing/],
    ['no network', { 'onnx/model.onnx': Buffer.from('no') }, /weights: onnx\/model.onnx does not load/],
    [
      'only the architecture, and no network',
      { ...noModules, 'onnx/model.onnx': null },
      /weights: onnx\/model.onnx is missing/,
    ],
  ])('are unavailable from a folder with %s', async (_, files, reason) => {
    expect(await rig.start(folder(files))).toMatchObject({
      state: 'unavailable',
      reason: expect.stringMatching(reason),
    });
  });
});

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
