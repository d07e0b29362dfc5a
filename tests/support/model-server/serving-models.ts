import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOOL, FLOAT, type Graph, INT64, onnxFile } from '../onnx/onnx-graph.js';
import { idleRound } from '../onnx/toy-language-model.js';

/** Keeps the model files that a test makes. */
export class MadeModels {
  private readonly folder = mkdtempSync(join(tmpdir(), 'tenon-serving-'));

  file(name: string, content: Buffer): string {
    const file = join(this.folder, `${name}.onnx`);
    writeFileSync(file, content);
    return file;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** Makes a model that returns each input. `types` are numbers of the ONNX format. */
export function echo(types: Readonly<Record<string, number>>, shape: readonly (number | string)[] = ['N']): Buffer {
  const names = Object.keys(types);
  return onnxFile({
    inputs: names.map((name) => [name, types[name] as number, shape]),
    outputs: names.map((name) => [`${name}_out`, types[name] as number, shape]),
    nodes: names.map((name) => ({ op: 'Identity', inputs: [name], outputs: [`${name}_out`] })),
  });
}

/** Maps types to their numbers in the ONNX format. */
export const onnxTypes = {
  FP32: 1,
  UINT8: 2,
  INT8: 3,
  UINT16: 4,
  INT16: 5,
  INT32: 6,
  INT64: 7,
  BYTES: 8,
  BOOL: 9,
  FP16: 10,
  FP64: 11,
  UINT32: 12,
  UINT64: 13,
} as const;

/** Makes a model that does nothing for `rounds` rounds. A million rounds take about half a second. */
export const idler = (): Buffer =>
  onnxFile({
    inputs: [['rounds', INT64, [1]]],
    outputs: [['idled', INT64, []]],
    constants: [
      ['yes', BOOL, [1]],
      ['zero', INT64, [0]],
      ['axis', INT64, [0], [1]],
    ],
    nodes: [
      { op: 'Squeeze', inputs: ['rounds', 'axis'], outputs: ['scalar'] },
      { op: 'Loop', inputs: ['scalar', 'yes', 'zero'], outputs: ['idled'], attributes: { body: idleRound } },
    ],
  });

const rows = (nodes: Graph['nodes']): Buffer =>
  onnxFile({
    inputs: [['x', FLOAT, ['N', 3]]],
    outputs: [['y', FLOAT, ['N', 3]]],
    constants: [['axis', INT64, [0], [1]]],
    nodes,
  });

/** Makes a model that subtracts the mean of all rows from each row, so each row changes the others. */
export const crossRows = (): Buffer =>
  rows([
    { op: 'ReduceMean', inputs: ['x'], outputs: ['mean'], attributes: { axes: [0], keepdims: 1 } },
    { op: 'Sub', inputs: ['x', 'mean'], outputs: ['y'] },
  ]);

/** Makes a model that subtracts the largest element of all rows from each element. The order of rows has no effect. */
export const crossRowsMost = (): Buffer =>
  onnxFile({
    inputs: [['x', INT64, ['N', 4]]],
    outputs: [['y', INT64, ['N', 4]]],
    nodes: [
      { op: 'ReduceMax', inputs: ['x'], outputs: ['most'], attributes: { keepdims: 0 } },
      { op: 'Sub', inputs: ['x', 'most'], outputs: ['y'] },
    ],
  });

/** Makes a model that knows four tokens, and fails on any other. */
export const lookUp = (): Buffer =>
  onnxFile({
    inputs: [['token', INT64, ['N']]],
    outputs: [['vector', FLOAT, ['N', 2]]],
    constants: [['table', FLOAT, [0, 1, 2, 3, 4, 5, 6, 7], [4, 2]]],
    nodes: [{ op: 'Gather', inputs: ['table', 'token'], outputs: ['vector'] }],
  });
