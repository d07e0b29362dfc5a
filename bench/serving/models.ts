import { type Constant, FLOAT, type Node, onnxFile } from '../../tests/support/onnx/onnx-graph.js';

/** Returns the same small pseudo-random weights each time. */
function weights(name: string, shape: readonly number[]): Constant {
  const inward = shape.slice(1).reduce((product, size) => product * size, 1);
  let state = 12_345 + name.length;
  const values = Array.from({ length: shape.reduce((product, size) => product * size, 1) }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state / 2 ** 31 - 1) / Math.sqrt(inward);
  });
  return [name, FLOAT, values, shape];
}

/**
 * Returns a small convolutional network for images of 224 × 224 in three colours. `batch` may be the name of a free
 * dimension.
 */
export function imageModel(batch: number | string = 1): Buffer {
  const channels = [3, 16, 32, 64];
  const constants: Constant[] = [];
  const nodes: Node[] = [];
  let last = 'image';
  for (const [at, from] of channels.slice(0, -1).entries()) {
    constants.push(weights(`w${at}`, [channels[at + 1] as number, from, 3, 3]));
    const attributes = { strides: [2, 2], pads: [1, 1, 1, 1] };
    nodes.push({ op: 'Conv', inputs: [last, `w${at}`], outputs: [`c${at}`], attributes });
    nodes.push({ op: 'Relu', inputs: [`c${at}`], outputs: [`r${at}`] });
    last = `r${at}`;
  }
  nodes.push({ op: 'GlobalAveragePool', inputs: [last], outputs: ['pooled'] });
  nodes.push({ op: 'Flatten', inputs: ['pooled'], outputs: ['flat'] });
  constants.push(weights('head', [64, 100]));
  nodes.push({ op: 'MatMul', inputs: ['flat', 'head'], outputs: ['scores'] });
  return onnxFile({
    inputs: [['image', FLOAT, [batch, 3, 224, 224]]],
    outputs: [['scores', FLOAT, [batch, 100]]],
    nodes,
    constants,
  });
}

/** Returns a perceptron with layers of these widths, from the input to the output. */
export function perceptron(widths: readonly number[]): Buffer {
  const constants: Constant[] = [];
  const nodes: Node[] = [];
  let last = 'x';
  for (const [at, from] of widths.slice(0, -1).entries()) {
    constants.push(weights(`w${at}`, [from, widths[at + 1] as number]));
    nodes.push({ op: 'MatMul', inputs: [last, `w${at}`], outputs: [`m${at}`] });
    const output = at === widths.length - 2 ? 'y' : `r${at}`;
    nodes.push({ op: 'Tanh', inputs: [`m${at}`], outputs: [output] });
    last = output;
  }
  return onnxFile({
    inputs: [['x', FLOAT, ['N', widths[0] as number]]],
    outputs: [['y', FLOAT, ['N', widths.at(-1) as number]]],
    nodes,
    constants,
  });
}
