import { decodeHalves } from '../../onnx/float16.js';
import type { AnswerForm } from './asked.js';
import { rawBytes } from './raw-tensors.js';
import { Refusal } from './refusal.js';
import { isNumeric, type Signature, type Tensor, type Tensors } from './tensors.js';

/** An answer's body in pieces, ready to be written. */
export interface Answer {
  readonly parts: readonly Uint8Array[];
  /** How much of it is JSON, where binary data comes after that. */
  readonly jsonLength: number | null;
}

/** `name` is the deployment's. Throws a Refusal where the outputs don't go into JSON text. */
export function encodeAnswer(form: AnswerForm, outputs: Tensors, signature: Signature, name: string): Answer {
  const given = form.outputs.map(({ index, binary }) => ({
    binary,
    name: signature.outputs[index]?.name as string,
    tensor: outputs[index] as Tensor,
  }));
  try {
    return form.kind === 'predict' ? predictAnswer(given) : inferAnswer(form, given, name);
  } catch (error) {
    // No string may be longer.
    throw error instanceof RangeError ? tooLong() : error;
  }
}

interface GivenOutput {
  readonly name: string;
  readonly tensor: Tensor;
  readonly binary: boolean;
}

function predictAnswer(given: readonly GivenOutput[]): Answer {
  const members = given.map(({ name, tensor }) => `${quoted(name)}:{${withData(tensor)}}`);
  return { parts: [Buffer.from(`{"outputs":{${members.join(',')}}}`)], jsonLength: null };
}

function inferAnswer({ id }: AnswerForm, given: readonly GivenOutput[], model: string): Answer {
  const binary: Uint8Array[] = [];
  const tensors = given.map(({ name, tensor, binary: asBytes }) => {
    if (!asBytes) return `{"name":${quoted(name)},${withData(tensor)}}`;
    const bytes = rawBytes(tensor);
    binary.push(bytes);
    return `{"name":${quoted(name)},${typed(tensor)},"parameters":{"binary_data_size":${bytes.length}}}`;
  });
  const caller = id === null ? '' : `"id":${quoted(id)},`;
  const header = `"model_name":${quoted(model)},"model_version":"1"`;
  const json = Buffer.from(`{${caller}${header},"outputs":[${tensors.join(',')}]}`);
  return { parts: [json, ...binary], jsonLength: binary.length > 0 ? json.length : null };
}

const quoted = (text: string): string => JSON.stringify(text);

const typed = ({ datatype, shape }: Tensor): string => `"datatype":"${datatype}","shape":[${shape.join(',')}]`;

const withData = (tensor: Tensor): string => `${typed(tensor)},"data":${elements(tensor)}`;

/** Whole numbers are written exactly, of any size. What JSON has no number for is a string. */
function elements({ datatype, data }: Tensor): string {
  if (!isNumeric(data)) return JSON.stringify(data);
  if (datatype === 'BOOL') return `[${Array.from(data as Uint8Array, Boolean).join(',')}]`;
  const text = (datatype === 'FP16' ? decodeHalves(data as Uint16Array) : data).join(',');
  return `[${/[NI]/.test(text) ? text.replace(/NaN|-?Infinity/g, '"$&"') : text}]`;
}

const tooLong = (): Refusal =>
  new Refusal('invalid_request', 'The outputs are too large for JSON: ask for binary data, or for fewer outputs.');
