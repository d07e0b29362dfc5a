import { GraphWriter } from './graph-writer.js';
import { FLOAT, INT64, onnxFile } from './onnx-graph.js';

export interface EncoderSize {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly inner: number;
  readonly context: number;
  /** Leaves out the mask, so that padding changes the vectors. */
  readonly unmasked?: boolean;
}

/** Makes an embedding model like BERT with random weights. Its output is `last_hidden_state`. */
export const encoder = (size: EncoderSize): Buffer => new Writer(size).file();

class Writer extends GraphWriter {
  constructor(private readonly size: EncoderSize) {
    super(7);
  }

  file(): Buffer {
    const { vocabulary, hidden, layers, context, unmasked } = this.size;
    const length = this.op('Gather', [this.op('Shape', ['input_ids']), this.constant(INT64, [1])]);
    const places = this.op('Range', [this.constant(INT64, [0]), length, this.constant(INT64, [1])]);
    const words = this.op('Gather', [this.weights([vocabulary, hidden], 1), 'input_ids']);
    const types = this.op('Gather', [this.weights([2, hidden], 0.3), 'token_type_ids']);
    const positions = this.op('Gather', [this.weights([context, hidden], 0.3), places]);
    let state = this.op('Add', [this.op('Add', [words, types]), positions]);
    const hiddenPlaces = this.op('Sub', [
      this.op('Cast', ['attention_mask'], { to: FLOAT }),
      this.constant(FLOAT, [1]),
    ]);
    const mask = this.op('Mul', [
      this.op('Unsqueeze', [hiddenPlaces, this.integers(1, 2)]),
      this.constant(FLOAT, [unmasked ? 0 : 1e9]),
    ]);
    for (let layer = 0; layer < layers; layer++) {
      state = this.op('Add', [state, this.attended(this.normal(state), mask)]);
      state = this.op('Add', [state, this.thought(this.normal(state))]);
    }
    this.op('Identity', [this.normal(state)], {}, 'last_hidden_state');
    const ids = (name: string) => [name, INT64, ['batch', 'sequence']] as const;
    return onnxFile({
      inputs: [ids('input_ids'), ids('attention_mask'), ids('token_type_ids')],
      outputs: [['last_hidden_state', FLOAT, ['batch', 'sequence', hidden]]],
      nodes: this.nodes,
      constants: this.constants,
    });
  }

  private attended(input: string, mask: string): string {
    const { hidden, heads } = this.size;
    const split = (perm: number[]) => {
      const parts = this.op('Reshape', [
        this.linear(input, hidden, hidden),
        this.integers(0, 0, heads, hidden / heads),
      ]);
      return this.op('Transpose', [parts], { perm });
    };
    const products = this.op('MatMul', [split([0, 2, 1, 3]), split([0, 2, 3, 1])]);
    const scaled = this.op('Mul', [products, this.constant(FLOAT, [1 / Math.sqrt(hidden / heads)])]);
    const shares = this.op('Softmax', [this.op('Add', [scaled, mask])], { axis: -1 });
    const mixed = this.op('Transpose', [this.op('MatMul', [shares, split([0, 2, 1, 3])])], { perm: [0, 2, 1, 3] });
    return this.linear(this.op('Reshape', [mixed, this.integers(0, 0, hidden)]), hidden, hidden);
  }

  private thought(input: string): string {
    const { hidden, inner } = this.size;
    const wide = this.linear(input, hidden, inner);
    return this.linear(this.op('Mul', [wide, this.op('Sigmoid', [wide])]), inner, hidden);
  }

  private normal(input: string): string {
    const { hidden } = this.size;
    const scale = this.constant(FLOAT, new Float32Array(hidden).fill(1), [hidden]);
    return this.op('LayerNormalization', [input, scale], { axis: -1 });
  }

  private linear(input: string, from: number, to: number): string {
    return this.op('MatMul', [input, this.weights([from, to], 1 / Math.sqrt(from))]);
  }
}
