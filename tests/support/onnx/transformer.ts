import { GraphWriter } from './graph-writer.js';
import { FLOAT, FLOAT16, INT8, INT32, INT64, onnxFile, UINT8 } from './onnx-graph.js';

/** The numbers that share a scale. */
const BLOCK = 32;

export interface Transformer {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  /** The number of heads of keys and values. Several attention heads share one. */
  readonly kvHeads: number;
  readonly inner: number;
  readonly context: number;
  /**
   * Selects the attention. `plain` uses operators of the standard with a mask and positions, as most exports do.
   * `group_query` uses an operator of ONNX Runtime that gets only the lengths from the mask, and no positions.
   */
  readonly attention: 'plain' | 'group_query';
  /** Keeps keys and values in half precision. */
  readonly half?: boolean;
  /**
   * Computes with whole numbers. With `step`, their scale depends on the whole step, so rows influence each other a
   * little. With `blocks`, each block of 32 numbers has its own scale, as in the 8-bit exports of ONNX Runtime. With
   * `halves`, computes with 16-bit floats instead.
   */
  readonly quantized?: 'step' | 'blocks' | 'halves';
  readonly seed?: number;
}

/** Makes a language model like Qwen2 with random weights, which are the same for the same seed. */
export const transformer = (about: Transformer): Buffer => new Writer(about).file();

class Writer extends GraphWriter {
  private readonly headSize: number;

  constructor(private readonly about: Transformer) {
    super(about.seed);
    this.headSize = about.hidden / about.heads;
  }

  file(): Buffer {
    const { vocabulary, hidden, layers, kvHeads, attention, half } = this.about;
    const embedding = this.weights([vocabulary, hidden], 1);
    const plain = attention === 'plain';
    let state = this.op('Gather', [embedding, 'input_ids']);
    if (plain) this.mask();
    else this.lengths();
    this.rotations(plain);
    for (let layer = 0; layer < layers; layer++) {
      const normal = this.normal(state);
      const [q, k, v] = ['q', 'k', 'v'].map((part) => this.projected(normal, part)) as [string, string, string];
      const attended = plain ? this.attended(layer, q, k, v) : this.attendedInGroups(layer, q, k, v);
      state = this.op('Add', [state, this.linear(attended, hidden, hidden)]);
      state = this.op('Add', [state, this.thought(this.normal(state))]);
    }
    const scores = this.linear(this.normal(state), hidden, vocabulary);
    this.op('Identity', [scores], {}, 'logits');
    const type = half ? FLOAT16 : FLOAT;
    const cache = (name: string, length: string) =>
      Array.from({ length: layers }, (_, i) =>
        ['key', 'value'].map(
          (part) => [`${name}.${i}.${part}`, type, ['batch', kvHeads, length, this.headSize]] as const,
        ),
      ).flat();
    return onnxFile({
      inputs: [
        ['input_ids', INT64, ['batch', 'sequence']],
        ['attention_mask', INT64, ['batch', 'total']],
        ...(plain ? [['position_ids', INT64, ['batch', 'sequence']] as const] : []),
        ...cache('past_key_values', 'past'),
      ],
      outputs: [['logits', FLOAT, ['batch', 'sequence', vocabulary]], ...cache('present', 'total')],
      nodes: this.nodes,
      constants: this.constants,
    });
  }

  private linear(input: string, from: number, to: number): string {
    if (this.about.quantized === 'step') return this.linearInWholeNumbers(input, from, to);
    if (this.about.quantized === 'blocks') return this.linearInBlocks(input, from, to);
    const rounded = (values: string) =>
      this.about.quantized === 'halves'
        ? this.op('Cast', [this.op('Cast', [values], { to: FLOAT16 })], { to: FLOAT })
        : values;
    return rounded(this.op('MatMul', [rounded(input), this.weights([from, to], 1 / Math.sqrt(from))]));
  }

  private linearInWholeNumbers(input: string, from: number, to: number): string {
    const weights = this.constant(
      INT8,
      Array.from({ length: from * to }, () => Math.round((this.chance.next() - 0.5) * 254)),
      [from, to],
    );
    const [whole, scale, zero] = [this.name(), this.name(), this.name()];
    this.nodes.push({ op: 'DynamicQuantizeLinear', inputs: [input], outputs: [whole, scale, zero] });
    const product = this.op('Cast', [this.op('MatMulInteger', [whole, weights, zero])], { to: FLOAT });
    const unit = this.constant(FLOAT, [Math.sqrt(12 / from) / 254]);
    return this.op('Mul', [product, this.op('Mul', [scale, unit])]);
  }

  private linearInBlocks(input: string, from: number, to: number): string {
    const blocks = from / BLOCK;
    const whole = Array.from({ length: from * to }, () => Math.floor(this.chance.next() * 256));
    const weights = this.constant(UINT8, whole, [to, blocks, BLOCK]);
    const scales = new Float32Array(to * blocks).fill(Math.sqrt(12 / from) / 256);
    const output = this.name();
    this.nodes.push({
      op: 'MatMulNBits',
      domain: 'com.microsoft',
      inputs: [input, weights, this.constant(FLOAT, scales, [to * blocks])],
      outputs: [output],
      attributes: { K: from, N: to, bits: 8, block_size: BLOCK, accuracy_level: 4 },
    });
    return output;
  }

  private normal(input: string): string {
    const squares = this.op('Pow', [input, this.constant(FLOAT, [2])]);
    const mean = this.op('ReduceMean', [squares], { axes: [-1], keepdims: 1 });
    const root = this.op('Sqrt', [this.op('Add', [mean, this.constant(FLOAT, [1e-6])])]);
    const ones = this.constant(FLOAT, new Float32Array(this.about.hidden).fill(1), [this.about.hidden]);
    return this.op('Mul', [this.op('Div', [input, root]), ones]);
  }

  private projected(input: string, part: string): string {
    const { hidden, heads, kvHeads } = this.about;
    const size = this.headSize * (part === 'q' ? heads : kvHeads);
    return this.op('Add', [this.linear(input, hidden, size), this.weights([size], 0.1)]);
  }

  /** Adds the gated feed-forward network after an attention. */
  private thought(input: string): string {
    const { hidden, inner } = this.about;
    const gate = this.linear(input, hidden, inner);
    const open = this.op('Mul', [gate, this.op('Sigmoid', [gate])]);
    return this.linear(this.op('Mul', [open, this.linear(input, hidden, inner)]), inner, hidden);
  }

  /** Sets `seen` to 0 for the tokens that a token may look at, and to -1e9 for masked and for later ones. */
  private mask(): void {
    const [zero, one] = [this.constant(INT64, [0]), this.constant(INT64, [1])];
    const total = this.op('Gather', [this.op('Shape', ['attention_mask']), one]);
    const length = this.op('Gather', [this.op('Shape', ['input_ids']), one]);
    const columns = this.op('Range', [zero, total, one]);
    const rows = this.op('Range', [this.op('Sub', [total, length]), total, one]);
    const causal = this.op('LessOrEqual', [columns, this.op('Unsqueeze', [rows, this.integers(1)])]);
    const kept = this.op('Unsqueeze', ['attention_mask', this.integers(1, 2, 3)]);
    const may = this.op('And', [causal, this.op('Greater', [kept, zero])]);
    this.op('Where', [may, this.constant(FLOAT, [0]), this.constant(FLOAT, [-1e9])], {}, 'seen');
  }

  private lengths(): void {
    const counted = this.op('ReduceSum', ['attention_mask', this.integers(1)], { keepdims: 1 });
    this.op('Cast', [this.op('Sub', [counted, this.integers(1)])], { to: INT32 }, 'lengths');
    const total = this.op('Gather', [this.op('Shape', ['attention_mask']), this.constant(INT64, [1])]);
    this.op('Cast', [total], { to: INT32 }, 'total_length');
  }

  /** Sets `cos` and `sin`: of every position for `group_query`, of the requested positions for `plain`. */
  private rotations(plain: boolean): void {
    const { context } = this.about;
    const half = this.headSize / 2;
    for (const turn of ['cos', 'sin'] as const) {
      const table = new Float32Array(context * half).map((_, i) =>
        Math[turn](Math.floor(i / half) / 10_000 ** ((i % half) / half)),
      );
      const halves = this.constant(FLOAT, table, [context, half]);
      const whole = plain && this.op('Concat', [halves, halves], { axis: 1 });
      if (!whole) this.op('Identity', [halves], {}, turn);
      else this.op('Unsqueeze', [this.op('Gather', [whole, 'position_ids']), this.integers(1)], {}, turn);
    }
  }

  private attended(layer: number, q: string, k: string, v: string): string {
    const { heads, kvHeads, hidden } = this.about;
    const [size, group] = [this.headSize, heads / kvHeads];
    const queries = this.rotated(this.split(q, heads));
    const keys = this.extended(layer, 'key', this.rotated(this.split(k, kvHeads)));
    const values = this.extended(layer, 'value', this.split(v, kvHeads));
    const grouped = this.op('Reshape', [queries, this.integers(0, kvHeads, group, -1, size)]);
    const each = (kept: string) => this.op('Unsqueeze', [kept, this.integers(2)]);
    const products = this.op('MatMul', [grouped, this.op('Transpose', [each(keys)], { perm: [0, 1, 2, 4, 3] })]);
    const scaled = this.op('Mul', [products, this.constant(FLOAT, [1 / Math.sqrt(size)])]);
    const shares = this.op('Softmax', [this.op('Add', [scaled, 'seen'])], { axis: -1 });
    const mixed = this.op('Reshape', [this.op('MatMul', [shares, each(values)]), this.integers(0, heads, -1, size)]);
    return this.op('Reshape', [this.op('Transpose', [mixed], { perm: [0, 2, 1, 3] }), this.integers(0, 0, hidden)]);
  }

  private split(input: string, heads: number): string {
    const parts = this.op('Reshape', [input, this.integers(0, 0, heads, this.headSize)]);
    return this.op('Transpose', [parts], { perm: [0, 2, 1, 3] });
  }

  private rotated(input: string): string {
    const half = this.headSize / 2;
    const part = (from: number, to: number) =>
      this.op('Slice', [input, this.integers(from), this.integers(to), this.integers(3)]);
    const turned = this.op('Concat', [this.op('Neg', [part(half, 2 * half)]), part(0, half)], { axis: 3 });
    return this.op('Add', [this.op('Mul', [input, 'cos']), this.op('Mul', [turned, 'sin'])]);
  }

  /** Appends the new keys or values to the past ones. */
  private extended(layer: number, part: string, entry: string): string {
    const [past, present] = [`past_key_values.${layer}.${part}`, `present.${layer}.${part}`];
    if (!this.about.half) return this.op('Concat', [past, entry], { axis: 2 }, present);
    const kept = this.op('Concat', [past, this.op('Cast', [entry], { to: FLOAT16 })], { axis: 2 }, present);
    return this.op('Cast', [kept], { to: FLOAT });
  }

  private attendedInGroups(layer: number, q: string, k: string, v: string): string {
    const output = this.name();
    const [past, present] = ['past_key_values', 'present'].map((name) =>
      ['key', 'value'].map((part) => `${name}.${layer}.${part}`),
    ) as [string[], string[]];
    this.nodes.push({
      op: 'GroupQueryAttention',
      domain: 'com.microsoft',
      inputs: [q, k, v, ...past, 'lengths', 'total_length', 'cos', 'sin'],
      outputs: [output, ...present],
      attributes: { num_heads: this.about.heads, kv_num_heads: this.about.kvHeads, do_rotary: 1 },
    });
    return output;
  }
}
