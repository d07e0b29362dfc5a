// This module writes ONNX files, with only the parts of the protobuf format that the models of tests need.

export const FLOAT = 1;
export const UINT8 = 2;
export const INT8 = 3;
export const INT32 = 6;
export const INT64 = 7;
export const BOOL = 9;
export const FLOAT16 = 10;

type Field = Buffer;

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  while (left > 127n) {
    bytes.push(Number(left & 127n) | 128);
    left >>= 7n;
  }
  return Buffer.from([...bytes, Number(left)]);
}

const integer = (field: number, value: number | bigint): Field =>
  Buffer.concat([varint(BigInt(field << 3)), varint(BigInt(value))]);

const bytes = (field: number, value: string | Buffer): Field => {
  const content = Buffer.from(value as string);
  return Buffer.concat([varint(BigInt((field << 3) | 2)), varint(BigInt(content.length)), content]);
};

const message = (field: number, parts: readonly Field[]): Field => bytes(field, Buffer.concat(parts));

export type Attribute = number | readonly number[] | Buffer;

function attribute(name: string, value: Attribute): Field {
  const graph = 5;
  const [int, ints] = [2, 7];
  if (Buffer.isBuffer(value)) return message(5, [bytes(1, name), bytes(6, value), integer(20, graph)]);
  if (typeof value === 'number') return message(5, [bytes(1, name), integer(3, value), integer(20, int)]);
  return message(5, [bytes(1, name), ...value.map((one) => integer(8, one)), integer(20, ints)]);
}

export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** The domain of the operator, by default that of ONNX. */
  readonly domain?: string;
}

const nodeOf = ({ op, inputs, outputs, attributes = {}, domain = '' }: Node): Field =>
  message(1, [
    ...inputs.map((name) => bytes(1, name)),
    ...outputs.map((name) => bytes(2, name)),
    bytes(4, op),
    ...Object.entries(attributes).map(([name, value]) => attribute(name, value)),
    bytes(7, domain),
  ]);

/** Describes an input or an output. The text dimensions of its shape are free. */
export type Value = readonly [name: string, type: number, shape: readonly (number | string)[]];

function declaration(field: number, [name, type, shape]: Value): Field {
  const dimensions = shape.map((one) => message(1, [typeof one === 'number' ? integer(1, one) : bytes(2, one)]));
  return message(field, [bytes(1, name), message(2, [message(1, [integer(1, type), message(2, dimensions)])])]);
}

/** Describes a constant. Without `shape`, it is a scalar. */
export type Constant = readonly [
  name: string,
  type: number,
  values: readonly (number | bigint)[] | Float32Array,
  shape?: readonly number[],
];

function constantOf([name, type, values, shape = []]: Constant): Field {
  const dimensions = shape.map((one) => integer(1, one));
  return message(5, [...dimensions, integer(2, type), bytes(8, name), bytes(9, rawOf(type, values))]);
}

function rawOf(type: number, values: Constant[2]): Buffer {
  if (values instanceof Float32Array) return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  const raw = values.map((value) => {
    const buffer = Buffer.alloc(type === INT64 ? 8 : type === BOOL || type === INT8 || type === UINT8 ? 1 : 4);
    if (type === INT64) buffer.writeBigInt64LE(BigInt(value));
    else if (type === INT8) buffer.writeInt8(Number(value));
    else if (type === BOOL || type === UINT8) buffer.writeUInt8(Number(value));
    else buffer.writeFloatLE(Number(value));
    return buffer;
  });
  return Buffer.concat(raw);
}

/** Describes a constant of floats that is in a file beside the model. */
export type ExternalConstant = readonly [name: string, file: string, length: number];

function externalConstantOf([name, file, length]: ExternalConstant): Field {
  const location = message(13, [bytes(1, 'location'), bytes(2, file)]);
  const external = 1;
  return message(5, [integer(1, length), integer(2, FLOAT), bytes(8, name), location, integer(14, external)]);
}

export interface Graph {
  readonly nodes: readonly Node[];
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  readonly constants?: readonly Constant[];
  readonly externalConstants?: readonly ExternalConstant[];
}

export const graphOf = ({ nodes, inputs, outputs, constants = [], externalConstants = [] }: Graph): Buffer =>
  Buffer.concat([
    ...nodes.map(nodeOf),
    bytes(2, 'test'),
    ...constants.map(constantOf),
    ...externalConstants.map(externalConstantOf),
    ...inputs.map((value) => declaration(11, value)),
    ...outputs.map((value) => declaration(12, value)),
  ]);

/** Writes a file that may use the operators of the standard, and those that ONNX Runtime adds. */
export const onnxFile = (graph: Graph, { format = 8, operators = 17 } = {}): Buffer =>
  Buffer.concat([
    integer(1, format),
    bytes(7, graphOf(graph)),
    message(8, [bytes(1, ''), integer(2, operators)]),
    message(8, [bytes(1, 'com.microsoft'), integer(2, 1)]),
  ]);
