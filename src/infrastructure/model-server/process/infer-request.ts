import {
  type Asked,
  type AskedOutput,
  isObject,
  type JsonObject,
  names,
  objectAt,
  own,
  unknownInput,
  unknownOutput,
} from './asked.js';
import { Findings, kindOf, Wrong } from './findings.js';
import { checkDatatype, jsonTensor } from './json-tensors.js';
import { rawTensor } from './raw-tensors.js';
import { checkShape, readShape, shapeText } from './shapes.js';
import type { Signature, Tensor, TensorSpec } from './tensors.js';

/**
 * What an inference request of the Open Inference Protocol asks for. `binary` is what came after the JSON, null where
 * all of it is JSON. Throws a Refusal that lists all that is wrong.
 */
export function readInfer(body: unknown, binary: Uint8Array | null, signature: Signature): Asked {
  const request = objectAt(body, 'body');
  const findings = new Findings();
  const inputs = new InferInputs(signature, binary);
  const given = own(request, 'inputs');
  if (!Array.isArray(given)) findings.add('inputs', `must be an array of tensors, not ${kindOf(given)}`);
  else {
    for (const [at, one] of given.entries()) findings.attempt(() => inputs.take(one, `inputs[${at}]`));
    for (const spec of inputs.missing()) findings.add('inputs', missing(spec));
  }
  const id = findings.attempt(() => idOf(own(request, 'id')));
  const outputs = findings.attempt(() => outputsOf(request, signature));
  findings.done();
  inputs.end(findings);
  findings.done();
  return { feeds: inputs.feeds(), form: { kind: 'infer', id: id ?? null, outputs: outputs as AskedOutput[] } };
}

const missing = ({ name, datatype, shape }: TensorSpec): string =>
  `input "${name}" is missing; it is ${datatype} of shape ${shapeText(shape)}`;

class InferInputs {
  private readonly found = new Map<string, Tensor | null>();
  private taken = 0;

  constructor(
    private readonly signature: Signature,
    private readonly binary: Uint8Array | null,
  ) {}

  take(given: unknown, path: string): void {
    if (!isObject(given)) throw new Wrong(path, `must be an object, not ${kindOf(given)}`);
    const name = own(given, 'name');
    if (typeof name !== 'string') throw new Wrong(`${path}.name`, `must be a string, not ${kindOf(name)}`);
    const spec = this.signature.inputs.find((input) => input.name === name);
    if (!spec) throw new Wrong(`${path}.name`, unknownInput(name, this.signature));
    if (this.found.has(name)) throw new Wrong(`${path}.name`, `input "${name}" is there twice`);
    this.found.set(name, null);
    this.found.set(name, this.tensor(spec, given, path));
  }

  missing(): TensorSpec[] {
    return this.signature.inputs.filter(({ name }) => !this.found.has(name));
  }

  /** All bytes must be some input's. */
  end(findings: Findings): void {
    const given = this.binary?.length ?? 0;
    if (given !== this.taken) findings.add('inputs', `use ${this.taken} bytes of binary data, ${given} were sent`);
  }

  feeds(): Tensor[] {
    return this.signature.inputs.map(({ name }) => this.found.get(name) as Tensor);
  }

  private tensor(spec: TensorSpec, given: JsonObject, path: string): Tensor {
    const parameters = parametersOf(given, path);
    const size = own(parameters, 'binary_data_size');
    const [shape, datatype, data] = ['shape', 'datatype', 'data'].map((name) => own(given, name));
    for (const [name, value] of Object.entries({ shape, datatype }))
      if (value === undefined) throw new Wrong(`${path}.${name}`, `input "${spec.name}" needs a ${name}`);
    if (size === undefined) return jsonTensor(spec, { data, shape, datatype }, path);
    if (data !== undefined) throw new Wrong(path, `input "${spec.name}" has both data and binary_data_size`);
    const bytes = this.next(spec, size, `${path}.parameters.binary_data_size`);
    checkDatatype(spec, datatype, `${path}.datatype`);
    const checked = readShape(shape, `${path}.shape`);
    checkShape(spec, checked, `${path}.shape`);
    return rawTensor(spec, checked, bytes, path);
  }

  private next({ name }: TensorSpec, size: unknown, path: string): Uint8Array {
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
      throw new Wrong(path, `must be a whole number of bytes from 0`);
    const left = (this.binary?.length ?? 0) - this.taken;
    if (!this.binary || size > left) throw new Wrong(path, `input "${name}" has ${left} bytes left, not ${size}`);
    this.taken += size;
    return this.binary.subarray(this.taken - size, this.taken);
  }
}

function parametersOf(object: JsonObject, path: string): JsonObject {
  const parameters = own(object, 'parameters') ?? {};
  if (!isObject(parameters)) throw new Wrong(`${path}.parameters`, `must be an object, not ${kindOf(parameters)}`);
  for (const name of ['shared_memory_region', 'classification'])
    if (own(parameters, name))
      throw new Wrong(`${path}.parameters.${name}`, 'is an extension that is not offered here');
  return parameters;
}

function idOf(given: unknown): string | null {
  if (given === undefined) return null;
  if (typeof given !== 'string') throw new Wrong('id', `must be a string, not ${kindOf(given)}`);
  return given;
}

/** All of them unless some are named. */
function outputsOf(request: JsonObject, signature: Signature): AskedOutput[] {
  const binary = flag(parametersOf(request, 'body'), 'binary_data_output', 'parameters') ?? false;
  const given = own(request, 'outputs');
  if (given !== undefined && !Array.isArray(given))
    throw new Wrong('outputs', `must be an array, not ${kindOf(given)}`);
  if (!given?.length) return signature.outputs.map((_, index) => ({ index, binary }));
  const outputs = given.map((one, at) => outputOf(one, `outputs[${at}]`, binary, signature));
  if (new Set(outputs.map(({ index }) => index)).size < outputs.length)
    throw new Wrong('outputs', `name one of ${names(signature.outputs)} twice`);
  return outputs;
}

function outputOf(given: unknown, path: string, binary: boolean, signature: Signature): AskedOutput {
  if (!isObject(given)) throw new Wrong(path, `must be an object, not ${kindOf(given)}`);
  const name = own(given, 'name');
  const index = signature.outputs.findIndex((output) => output.name === name);
  if (index < 0) throw new Wrong(`${path}.name`, unknownOutput(name, signature));
  const asked = flag(parametersOf(given, path), 'binary_data', `${path}.parameters`);
  return { index, binary: asked ?? binary };
}

function flag(parameters: JsonObject, name: string, path: string): boolean | undefined {
  const value = own(parameters, name);
  if (value === undefined || typeof value === 'boolean') return value;
  throw new Wrong(`${path}.${name}`, `must be true or false, not ${kindOf(value)}`);
}
