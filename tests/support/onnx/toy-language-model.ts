import { BOOL, FLOAT, FLOAT16, type Graph, graphOf, INT64, type Node, onnxFile } from './onnx-graph.js';

export interface ToyLanguageModel {
  readonly vocabulary: number;
  /** Uses half precision for the cache and the scores. */
  readonly half?: boolean;
  /** The number of idle rounds in each step. About two thousand take a millisecond. */
  readonly idleRounds?: number;
  /** A token that makes its step endless. */
  readonly endlessToken?: number;
  /** Counts padding as tokens, although the mask excludes it. */
  readonly countsPadding?: boolean;
  /** Takes one sequence at a time. */
  readonly single?: boolean;
  /** The version of the file format. */
  readonly format?: number;
}

/**
 * Makes a language model without weights. The next token is the sum of all tokens so far and their number, modulo the
 * size of the vocabulary. So the answer is right only if the cache has every earlier token.
 */
export function toyLanguageModel({ vocabulary, half = false, format = 8, ...toy }: ToyLanguageModel): Buffer {
  const type = half ? FLOAT16 : FLOAT;
  const { idleRounds = 0, endlessToken = -1, countsPadding = false, single = false } = toy;
  const batch = single ? 1 : 'batch';
  const graph: Graph = {
    inputs: [
      ['input_ids', INT64, ['batch', 'sequence']],
      ['attention_mask', INT64, ['batch', 'total']],
      ['past_key_values.0.key', type, [batch, 1, 'past', 1]],
      ['past_key_values.0.value', type, [batch, 1, 'past', 1]],
    ],
    outputs: [
      ['logits', type, ['batch', 1, vocabulary]],
      ['present.0.key', type, ['batch', 1, 'total', 1]],
      ['present.0.value', type, ['batch', 1, 'total', 1]],
    ],
    constants: [
      ['axes_1_3', INT64, [1, 3], [2]],
      ['axes_1_2_3', INT64, [1, 2, 3], [3]],
      ['axis_1', INT64, [1], [1]],
      ['size', INT64, [vocabulary]],
      ['counted', INT64, [Number(countsPadding)]],
      // -1 instead of 0 reveals a reader that compares half-precision scores as raw bits: there, -1 is above 1.
      ['off_on', FLOAT, [-1, 1], [2]],
      ['zero', INT64, [0]],
      ['endless', INT64, [endlessToken]],
      ['forever', INT64, [2n ** 62n]],
      ['rounds', INT64, [idleRounds]],
      ['yes', BOOL, [1]],
    ],
    nodes: [
      { op: 'Add', inputs: ['input_ids', 'axis_1'], outputs: ['summand'] },
      { op: 'Cast', inputs: ['summand'], outputs: ['typed'], attributes: { to: type } },
      { op: 'Unsqueeze', inputs: ['typed', 'axes_1_3'], outputs: ['entry'] },
      concat('key'),
      concat('value'),
      { op: 'Cast', inputs: ['present.0.key'], outputs: ['stored'], attributes: { to: FLOAT } },
      // A tiny change of the cache may not change the sum.
      { op: 'Round', inputs: ['stored'], outputs: ['seen'] },
      { op: 'ReduceSum', inputs: ['seen', 'axes_1_2_3'], outputs: ['sum'], attributes: { keepdims: 0 } },
      { op: 'Cast', inputs: ['sum'], outputs: ['total'], attributes: { to: INT64 } },
      { op: 'Shape', inputs: ['attention_mask'], outputs: ['shape'] },
      { op: 'Gather', inputs: ['shape', 'axis_1'], outputs: ['length'] },
      { op: 'Mul', inputs: ['length', 'counted'], outputs: ['counted_length'] },
      { op: 'Add', inputs: ['total', 'counted_length'], outputs: ['counted_total'] },
      { op: 'Mod', inputs: ['counted_total', 'size'], outputs: ['next'] },
      ...idling,
      { op: 'Add', inputs: ['next', 'idled'], outputs: ['next_idled'] },
      { op: 'OneHot', inputs: ['next_idled', 'size', 'off_on'], outputs: ['row'] },
      { op: 'Unsqueeze', inputs: ['row', 'axis_1'], outputs: ['scores'] },
      { op: 'Cast', inputs: ['scores'], outputs: ['logits'], attributes: { to: type } },
    ],
  };
  return onnxFile(graph, { format });
}

const concat = (part: 'key' | 'value'): Node => ({
  op: 'Concat',
  inputs: [`past_key_values.0.${part}`, 'entry'],
  outputs: [`present.0.${part}`],
  attributes: { axis: 2 },
});

/** Computes a scalar: 1 if the tokens contain `token`, otherwise 0. */
const has = (token: string, output: string): Node[] => [
  { op: 'Equal', inputs: ['input_ids', token], outputs: [`${output}_where`] },
  { op: 'Cast', inputs: [`${output}_where`], outputs: [`${output}_ones`], attributes: { to: INT64 } },
  { op: 'ReduceMax', inputs: [`${output}_ones`], outputs: [output], attributes: { keepdims: 0 } },
];

/** The body of a loop that only passes a number on. */
export const idleRound = graphOf({
  inputs: [
    ['round', INT64, []],
    ['going', BOOL, []],
    ['carried', INT64, []],
  ],
  outputs: [
    ['still_going', BOOL, []],
    ['carried_on', INT64, []],
  ],
  nodes: [
    { op: 'Identity', inputs: ['going'], outputs: ['still_going'] },
    { op: 'Identity', inputs: ['carried'], outputs: ['carried_on'] },
  ],
});

/** Sets `idled` to 0 after the idle rounds. */
const idling: readonly Node[] = [
  ...has('endless', 'has_endless'),
  { op: 'Mul', inputs: ['has_endless', 'forever'], outputs: ['more_rounds'] },
  { op: 'Add', inputs: ['rounds', 'more_rounds'], outputs: ['all_rounds'] },
  { op: 'Loop', inputs: ['all_rounds', 'yes', 'zero'], outputs: ['idled'], attributes: { body: idleRound } },
];
