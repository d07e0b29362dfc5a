import { FLOAT, onnxFile } from './onnx-graph.js';

/** Makes a model with weights in another file. */
export const withWeightsIn = (file: string): Buffer =>
  onnxFile({
    inputs: [['input_ids', FLOAT, [4]]],
    outputs: [['logits', FLOAT, [4]]],
    externalConstants: [['weights', file, 4]],
    nodes: [{ op: 'Add', inputs: ['input_ids', 'weights'], outputs: ['logits'] }],
  });
