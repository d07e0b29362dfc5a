import { readModelFiles } from '../../../src/infrastructure/onnx-chat/worker/model-files.js';
import {
  type TokenizerReport,
  TokenizerThread,
} from '../../../src/infrastructure/onnx-chat/worker/tokenizer-thread.js';
import { ChildRuntimesRig, oddWorker } from '../../support/onnx/child-runtimes-rig.js';
import { ModelFolders, withFields } from '../../support/onnx/model-folders.js';
import { withWeightsIn } from '../../support/onnx/plain-models.js';

describe('a broken model', () => {
  const folders = new ModelFolders();
  let rig: ChildRuntimesRig;
  beforeEach(() => {
    rig = new ChildRuntimesRig();
  });
  afterEach(() => rig.runtimes.close());
  afterAll(() => folders.remove());

  const cases: readonly [problem: string, changes: Parameters<ModelFolders['like']>[0], reason: RegExp][] = [
    ['no configuration', { 'config.json': null }, /^configuration: config\.json is missing$/],
    [
      'a configuration that is cut',
      { 'config.json': (text) => text.slice(0, 99) },
      /^configuration: config\.json is not valid JSON: ./,
    ],
    ['no tokenizer', { 'tokenizer.json': null }, /^tokenizer: tokenizer\.json is missing$/],
    [
      'a cut tokenizer',
      { 'tokenizer.json': (text) => text.slice(0, 5_000) },
      /^tokenizer: tokenizer\.json is not valid JSON/,
    ],
    ['an empty tokenizer', { 'tokenizer.json': () => '{}' }, /^tokenizer: tokenizer\.json can't be used: ./],
    [
      'no tokenizer configuration',
      { 'tokenizer_config.json': null },
      /^tokenizer configuration: tokenizer_config\.json is missing$/,
    ],
    [
      'no template',
      { 'tokenizer_config.json': withFields({ chat_template: undefined }) },
      /^chat template: there is no chat_template\.jinja and tokenizer_config\.json has none$/,
    ],
    [
      'no default among its templates',
      { 'tokenizer_config.json': withFields({ chat_template: [{ name: 'x', template: 'y' }] }) },
      /^chat template: tokenizer_config\.json has no default$/,
    ],
    [
      'a template that does not compile',
      { 'chat_template.jinja': () => '{% for m in %}' },
      /^chat template: the one of chat_template\.jinja does not compile: ./,
    ],
    [
      'a template that does not render',
      { 'tokenizer_config.json': withFields({ chat_template: '{{ messages|no_such }}' }) },
      /^chat template: the one of tokenizer_config\.json does not render: .*no_such/,
    ],
    [
      'no length of context',
      {
        'config.json': withFields({ max_position_embeddings: null }),
        'tokenizer_config.json': withFields({ model_max_length: 1e30 }),
      },
      /^configuration: config\.json names no max_position_embeddings/,
    ],
  ];

  const weights: typeof cases = [
    ['no weights', { 'onnx/model.onnx': null }, /^weights: onnx\/model\.onnx is missing$/],
    [
      'weights that are text',
      { 'onnx/model.onnx': () => 'version https://git-lfs.github.com/spec/v1' },
      /^weights: onnx\/model\.onnx does not load: Protobuf parsing failed\.$/,
    ],
    [
      'weights with a missing part',
      { 'onnx/model.onnx': () => withWeightsIn('model.onnx_data') },
      /^weights: onnx\/model\.onnx does not load: External data path .* does not exist: "onnx\/model\.onnx_data"$/,
    ],
    [
      'weights with a part in another folder',
      { 'onnx/model.onnx': () => withWeightsIn('../../../secret/place') },
      /^weights: onnx\/model\.onnx does not load: .* resolved path: "place" allowed directory: "onnx"$/,
    ],
  ];

  const expectReason = (found: string | null, reason: RegExp) => {
    expect(found).toMatch(reason);
    expect(found).not.toMatch(/\/tmp|onnxruntime|\.cc|::/);
    expect(found).not.toContain(process.cwd());
  };

  it.each(cases)('with %s says so', (_, changes, reason) => {
    const reports: TokenizerReport[] = [];
    new TokenizerThread((report) => reports.push(report)).take({ type: 'load', folder: folders.toy({}, changes) });
    expect(reports).toEqual([{ type: 'broken', reason: expect.any(String) }]);
    expectReason((reports as Extract<TokenizerReport, { type: 'broken' }>[])[0]?.reason ?? null, reason);
  });

  it.each(weights)('with %s is unavailable and says so', async (_, changes, reason) => {
    const { state, reason: found } = await rig.start(folders.toy({}, changes));
    expect(state).toBe('unavailable');
    expectReason(found, reason);
  });

  it.each([
    ['q4', 'onnx/model_q4.onnx', 'model.onnx, model_fp16.onnx'],
    ['q8', 'onnx/model_quantized.onnx', 'model.onnx, model_fp16.onnx'],
    ['other.onnx', 'onnx/other.onnx', 'model.onnx, model_fp16.onnx'],
    ['../config.onnx', 'onnx/../config.onnx', 'model.onnx, model_fp16.onnx'],
  ])('without the wanted weights (%s) names those that it has', (wanted, missing, present) => {
    const folder = folders.like();
    folders.copy('onnx/model.onnx', folder, 'onnx/model_fp16.onnx');
    folders.copy('onnx/model.onnx', folder, 'config.onnx');
    expect(() => readModelFiles(folder, wanted)).toThrow(`weights: ${missing} is missing; there are ${present}`);
  });

  it('from a later exporter says so, without places in the source of ONNX Runtime', async () => {
    const { reason } = await rig.start(folders.toy({ format: 99 }));
    expect(reason).toMatch(/^weights: onnx\/model\.onnx does not load: Unsupported model IR version: 99/);
    expect(reason).not.toMatch(/\.cc|::/);
  });

  it('that loads but does not run is found before it becomes ready', async () => {
    const { reason } = await rig.start(folders.toy({ vocabulary: -1 }));
    expect(reason).toMatch(/^weights: onnx\/model\.onnx loads but does not run: ./);
  });

  it('is not started again by itself, and its process has ended', async () => {
    await rig.start(folders.toy({}, { 'config.json': null }));
    const starts = rig.log.of('chat runtime started').length;
    await rig.log.saw('chat runtime ended', starts);
    expect(rig.processes()).toEqual([]);
    expect(rig.log.of('chat runtime unavailable').at(-1)?.fields).not.toHaveProperty('restartInMs');
    expect(rig.runtimes.status('a').state).toBe('unavailable');
  });

  it('that takes too long to load is given up', async () => {
    const slow = new ChildRuntimesRig({ worker: oddWorker, loadTimeoutMs: 200 });
    expect(await slow.start('/models/silent')).toEqual({
      state: 'unavailable',
      reason: expect.stringMatching(/^the model did not load within 0\.2 s: .*\(SERVICE_RUNTIME_LOAD_TIMEOUT_S\)/),
    });
    await slow.log.saw('chat runtime ended');
    expect(slow.processes()).toEqual([]);
  });
});
