import { shapeText, tensorOfBase64, tensorOfBytes, tensorOfJson } from './input-tensors.js';
import { FieldErrors, InvalidField, invalidRequest, kindOf, shortened } from './request-error.js';
import type { Signature, Tensor, TensorSpec, Tensors } from './tensors.js';

export interface RequestedOutput {
  /** The position in the signature. */
  readonly index: number;
  /** True if the output is sent as raw bytes after the JSON. */
  readonly binary: boolean;
}

export interface ResponseFormat {
  readonly kind: 'predict' | 'infer';
  /** The caller's own id of the request, which the response repeats. */
  readonly id: string | null;
  readonly outputs: readonly RequestedOutput[];
}

export interface InferenceRequest {
  readonly inputs: Tensors;
  readonly format: ResponseFormat;
}

/** Reads a body of `POST /predict`. Throws a RequestError that lists all its problems. */
export function readPredict(body: unknown, signature: Signature): InferenceRequest {
  const request = requireObject(body, 'body');
  const values = requireObject(own(request, 'inputs'), 'inputs');
  const errors = new FieldErrors();
  const known = new Set(signature.inputs.map(({ name }) => name));
  for (const name of Object.keys(values))
    if (!known.has(name)) errors.add(`inputs.${shortened(name)}`, unknownInput(name, signature));
  const inputs = signature.inputs.map((spec) => errors.collect(() => predictInput(spec, own(values, spec.name))));
  const outputs = errors.collect(() => predictOutputs(own(request, 'outputs'), signature));
  errors.throwIfAny();
  return {
    inputs: inputs as Tensor[],
    format: { kind: 'predict', id: null, outputs: outputs as RequestedOutput[] },
  };
}

function predictInput(spec: TensorSpec, value: unknown): Tensor {
  const path = `inputs.${spec.name}`;
  if (value === undefined) throw new InvalidField(path, missingInput(spec));
  if (!isObject(value)) return tensorOfJson(spec, { data: value }, path);
  const tensor = { data: own(value, 'data'), shape: own(value, 'shape'), datatype: own(value, 'datatype') };
  const isBase64 = typeof tensor.data === 'string' && spec.datatype !== 'BYTES';
  return isBase64 ? tensorOfBase64(spec, tensor.data as string, tensor, path) : tensorOfJson(spec, tensor, path);
}

/** Returns all outputs if `names` is missing, null or empty. */
function predictOutputs(names: unknown, signature: Signature): RequestedOutput[] {
  const list = names ?? [];
  if (!Array.isArray(list)) throw new InvalidField('outputs', `must be an array of names, not ${kindOf(list)}`);
  if (list.length === 0) return signature.outputs.map((_, index) => ({ index, binary: false }));
  const indexes = list.map((name, at) => outputIndex(name, `outputs[${at}]`, signature));
  return [...new Set(indexes)].map((index) => ({ index, binary: false }));
}

/**
 * Reads an inference request of the Open Inference Protocol. `binary` is the data after the JSON, or null. Throws a
 * RequestError that lists all its problems.
 */
export function readInfer(body: unknown, binary: Uint8Array | null, signature: Signature): InferenceRequest {
  const request = requireObject(body, 'body');
  const errors = new FieldErrors();
  const inputs = new InferInputs(signature, binary);
  const list = own(request, 'inputs');
  if (!Array.isArray(list)) errors.add('inputs', `must be an array of tensors, not ${kindOf(list)}`);
  else {
    for (const [at, one] of list.entries()) errors.collect(() => inputs.add(one, `inputs[${at}]`));
    for (const spec of inputs.missing) errors.add('inputs', missingInput(spec));
  }
  const id = errors.collect(() => requestId(own(request, 'id')));
  const outputs = errors.collect(() => inferOutputs(request, signature));
  errors.throwIfAny();
  errors.collect(() => inputs.requireAllBytesUsed());
  errors.throwIfAny();
  return { inputs: inputs.tensors, format: { kind: 'infer', id: id ?? null, outputs: outputs as RequestedOutput[] } };
}

/** Returns whether a body of `POST /predict` has the form of the Open Inference Protocol. */
export const isInferForm = (body: unknown): boolean => isObject(body) && Array.isArray(own(body, 'inputs'));

/** Reads an inference request without binary data. Throws a RequestError, also for a request of binary outputs. */
export function readJsonInfer(body: unknown, signature: Signature): InferenceRequest {
  const request = readInfer(body, null, signature);
  if (!request.format.outputs.some(({ binary }) => binary)) return request;
  throw invalidRequest([{ path: 'outputs', message: 'binary data are answered on /v2 only, not on /predict' }]);
}

/** The inputs of one infer request. They take their binary data in the order of the request. */
class InferInputs {
  /** Maps the name of an input to its tensor, or to null if it is invalid. */
  private readonly found = new Map<string, Tensor | null>();
  private usedBytes = 0;

  constructor(
    private readonly signature: Signature,
    private readonly binary: Uint8Array | null,
  ) {}

  add(input: unknown, path: string): void {
    if (!isObject(input)) throw new InvalidField(path, `must be an object, not ${kindOf(input)}`);
    const name = own(input, 'name');
    if (typeof name !== 'string') throw new InvalidField(`${path}.name`, `must be a string, not ${kindOf(name)}`);
    const spec = this.signature.inputs.find((one) => one.name === name);
    if (!spec) throw new InvalidField(`${path}.name`, unknownInput(name, this.signature));
    if (this.found.has(name)) throw new InvalidField(`${path}.name`, `input "${name}" is there twice`);
    this.found.set(name, null);
    this.found.set(name, this.tensorOf(spec, input, path));
  }

  get missing(): TensorSpec[] {
    return this.signature.inputs.filter(({ name }) => !this.found.has(name));
  }

  get tensors(): Tensor[] {
    return this.signature.inputs.map(({ name }) => this.found.get(name) as Tensor);
  }

  requireAllBytesUsed(): void {
    const sent = this.binary?.length ?? 0;
    if (sent !== this.usedBytes)
      throw new InvalidField('inputs', `use ${this.usedBytes} bytes of binary data, ${sent} were sent`);
  }

  private tensorOf(spec: TensorSpec, input: JsonObject, path: string): Tensor {
    const size = own(parametersOf(input, path), 'binary_data_size');
    const [shape, datatype, data] = ['shape', 'datatype', 'data'].map((name) => own(input, name));
    for (const [name, value] of Object.entries({ shape, datatype }))
      if (value === undefined) throw new InvalidField(`${path}.${name}`, `input "${spec.name}" needs a ${name}`);
    if (size === undefined) return tensorOfJson(spec, { data, shape, datatype }, path);
    if (data !== undefined) throw new InvalidField(path, `input "${spec.name}" has both data and binary_data_size`);
    const bytes = this.takeBytes(spec, size, `${path}.parameters.binary_data_size`);
    return tensorOfBytes(spec, { shape, datatype }, path, () => bytes);
  }

  private takeBytes({ name }: TensorSpec, size: unknown, path: string): Uint8Array {
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
      throw new InvalidField(path, `must be a whole number of bytes from 0`);
    const left = (this.binary?.length ?? 0) - this.usedBytes;
    if (!this.binary || size > left)
      throw new InvalidField(path, `input "${name}" has ${left} bytes left, not ${size}`);
    this.usedBytes += size;
    return this.binary.subarray(this.usedBytes - size, this.usedBytes);
  }
}

/** Returns all outputs if none are named. */
function inferOutputs(request: JsonObject, signature: Signature): RequestedOutput[] {
  const binary = flag(parametersOf(request, 'body'), 'binary_data_output', 'parameters') ?? false;
  const list = own(request, 'outputs');
  if (list !== undefined && !Array.isArray(list))
    throw new InvalidField('outputs', `must be an array, not ${kindOf(list)}`);
  if (!list?.length) return signature.outputs.map((_, index) => ({ index, binary }));
  const outputs = list.map((one, at) => inferOutput(one, `outputs[${at}]`, binary, signature));
  if (new Set(outputs.map(({ index }) => index)).size < outputs.length)
    throw new InvalidField('outputs', `name one of ${namesOf(signature.outputs)} twice`);
  return outputs;
}

function inferOutput(output: unknown, path: string, binaryByDefault: boolean, signature: Signature): RequestedOutput {
  if (!isObject(output)) throw new InvalidField(path, `must be an object, not ${kindOf(output)}`);
  const index = outputIndex(own(output, 'name'), `${path}.name`, signature);
  const binary = flag(parametersOf(output, path), 'binary_data', `${path}.parameters`) ?? binaryByDefault;
  return { index, binary };
}

function parametersOf(object: JsonObject, path: string): JsonObject {
  const parameters = own(object, 'parameters') ?? {};
  if (!isObject(parameters))
    throw new InvalidField(`${path}.parameters`, `must be an object, not ${kindOf(parameters)}`);
  for (const name of ['shared_memory_region', 'classification'])
    if (own(parameters, name))
      throw new InvalidField(`${path}.parameters.${name}`, 'is an extension that is not offered here');
  return parameters;
}

function flag(parameters: JsonObject, name: string, path: string): boolean | undefined {
  const value = own(parameters, name);
  if (value === undefined || typeof value === 'boolean') return value;
  throw new InvalidField(`${path}.${name}`, `must be true or false, not ${kindOf(value)}`);
}

function requestId(id: unknown): string | null {
  if (id === undefined) return null;
  if (typeof id !== 'string') throw new InvalidField('id', `must be a string, not ${kindOf(id)}`);
  return id;
}

function outputIndex(name: unknown, path: string, { outputs }: Signature): number {
  const index = outputs.findIndex((output) => output.name === name);
  if (index >= 0) return index;
  const shown = typeof name === 'string' ? `"${shortened(name)}"` : `of which the name is ${kindOf(name)}`;
  throw new InvalidField(path, `the model has no output ${shown}; it gives ${namesOf(outputs)}`);
}

const unknownInput = (name: string, { inputs }: Signature): string =>
  `the model has no input "${shortened(name)}"; it takes ${namesOf(inputs)}`;

const missingInput = ({ name, datatype, shape }: TensorSpec): string =>
  `input "${name}" is missing; it is ${datatype} of shape ${shapeText(shape)}`;

const namesOf = (specs: readonly TensorSpec[]): string => specs.map(({ name }) => `"${name}"`).join(', ');

type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function requireObject(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value;
  throw invalidRequest([{ path, message: `must be an object, not ${kindOf(value)}` }]);
}

/** Returns the object's own member and never an inherited one. */
const own = (object: JsonObject, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined);
