import { FLOAT, INT64, onnxFile } from './onnx-graph.js';

/** A model that turns one input into floats. */
export const oneInput = (name: string): Buffer =>
  onnxFile({
    inputs: [[name, INT64, ['batch', 'sequence']]],
    outputs: [['logits', FLOAT, ['batch', 'sequence']]],
    nodes: [{ op: 'Cast', inputs: [name], outputs: ['logits'], attributes: { to: FLOAT } }],
  });

/** A model that needs a file beside it. */
export const withWeightsIn = (file: string): Buffer =>
  onnxFile({
    inputs: [['input_ids', FLOAT, [4]]],
    outputs: [['logits', FLOAT, [4]]],
    externalConstants: [['weights', file, 4]],
    nodes: [{ op: 'Add', inputs: ['input_ids', 'weights'], outputs: ['logits'] }],
  });
