import { type Asked, type AskedOutput, isObject, objectAt, own, unknownInput, unknownOutput } from './asked.js';
import { Findings, kindOf, shown, Wrong } from './findings.js';
import { base64Tensor, jsonTensor } from './json-tensors.js';
import { shapeText } from './shapes.js';
import type { Signature, Tensor, TensorSpec } from './tensors.js';

/** What a body of `POST /predict` asks for. Throws a Refusal that lists all that is wrong with it. */
export function readPredict(body: unknown, signature: Signature): Asked {
  const request = objectAt(body, 'body');
  const inputs = objectAt(own(request, 'inputs'), 'inputs');
  const findings = new Findings();
  const known = new Set(signature.inputs.map(({ name }) => name));
  for (const name of Object.keys(inputs))
    if (!known.has(name)) findings.add(`inputs.${shown(name)}`, unknownInput(name, signature));
  const feeds = signature.inputs.map((spec) => findings.attempt(() => tensorOf(spec, own(inputs, spec.name))));
  const outputs = findings.attempt(() => outputsOf(own(request, 'outputs'), signature));
  findings.done();
  return { feeds: feeds as Tensor[], form: { kind: 'predict', id: null, outputs: outputs as AskedOutput[] } };
}

function tensorOf(spec: TensorSpec, given: unknown): Tensor {
  const path = `inputs.${spec.name}`;
  if (given === undefined)
    throw new Wrong(path, `input "${spec.name}" is missing; it is ${spec.datatype} of shape ${shapeText(spec.shape)}`);
  if (!isObject(given)) return jsonTensor(spec, { data: given }, path);
  const tensor = { data: own(given, 'data'), shape: own(given, 'shape'), datatype: own(given, 'datatype') };
  const isBase64 = typeof tensor.data === 'string' && spec.datatype !== 'BYTES';
  return isBase64 ? base64Tensor(spec, tensor.data as string, tensor, path) : jsonTensor(spec, tensor, path);
}

/** All of them unless some are named. */
function outputsOf(given: unknown, signature: Signature): AskedOutput[] {
  if (given === undefined || given === null) return signature.outputs.map((_, index) => ({ index, binary: false }));
  if (!Array.isArray(given)) throw new Wrong('outputs', `must be an array of names, not ${kindOf(given)}`);
  const indexes = given.map((name, at) => {
    const index = signature.outputs.findIndex((output) => output.name === name);
    if (index < 0) throw new Wrong(`outputs[${at}]`, unknownOutput(name, signature));
    return index;
  });
  return [...new Set(indexes)].map((index) => ({ index, binary: false }));
}
