import type { InferenceSession } from 'onnxruntime-node';
import { kvLayoutOf } from '../../../src/infrastructure/chat-engine/worker/kv-layout.js';

type Input = InferenceSession.ValueMetadata;
const tensor = (name: string, type: string, shape: readonly (number | string)[]): Input =>
  ({ name, isTensor: true, type, shape }) as Input;

const tokens = tensor('input_ids', 'int64', ['batch', 'sequence']);
const mask = tensor('attention_mask', 'int64', ['batch', 'total']);
const positions = tensor('position_ids', 'int64', ['batch', 'sequence']);
const key = tensor('past_key_values.0.key', 'float32', ['batch', 2, 'past', 32]);
const value = tensor('past_key_values.0.value', 'float16', ['batch', 4, 'past', 16]);

const layout = (inputs: readonly Input[], outputNames = ['logits', 'present.0.key', 'present.0.value']) =>
  kvLayoutOf({ inputNames: inputs.map(({ name }) => name), inputMetadata: inputs, outputNames }, 'onnx/model.onnx');

describe('the layout of a cache', () => {
  it('is what the session says it is, tensor by tensor', () => {
    expect(layout([tokens, mask, positions, key, value])).toEqual({
      takesMask: true,
      takesPositions: true,
      tensors: [
        { input: 'past_key_values.0.key', output: 'present.0.key', type: 'float32', heads: 2, headSize: 32 },
        { input: 'past_key_values.0.value', output: 'present.0.value', type: 'float16', heads: 4, headSize: 16 },
      ],
    });
    expect(layout([tokens, key])).toMatchObject({ takesMask: false, takesPositions: false });
  });

  it.each<[string, () => unknown]>([
    ['has no input input_ids', () => layout([mask, key])],
    ['has no key/value inputs (past_key_values.*)', () => layout([tokens, mask])],
    ['needs the input use_cache_branch', () => layout([tokens, key, tensor('use_cache_branch', 'bool', [1])])],
    ['has no output logits', () => layout([tokens, key], ['present.0.key'])],
    ['takes past_key_values.0.key but gives no present.0.key', () => layout([tokens, key], ['logits'])],
    [
      'has the input past_key_values.0.key of a type',
      () => layout([tokens, tensor('past_key_values.0.key', 'int8', ['batch', 2, 'past', 32])]),
    ],
    [
      'does not fix the shape',
      () => layout([tokens, tensor('past_key_values.0.key', 'float32', ['b', 'h', 'p', 'd'])]),
    ],
  ])('is refused where it %s', (problem, make) => {
    expect(make).toThrow(`weights: onnx/model.onnx ${problem}`);
  });
});
