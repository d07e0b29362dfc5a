import { parse } from 'lossless-json';
import { jsonNesting } from '../../../domain/shared/text.js';
import { decodeHalves } from '../../onnx/onnx-runtime.js';
import { MODEL_VERSION } from '../protocol.js';
import {
  type InferenceRequest,
  isInferForm,
  type ResponseFormat,
  readInfer,
  readJsonInfer,
  readPredict,
} from './inference-request.js';
import { invalidRequest, RequestError } from './request-error.js';
import { isNumeric, type Signature, type Tensor, type Tensors } from './tensors.js';

export interface RequestBody {
  readonly kind: 'predict' | 'infer';
  readonly bytes: Uint8Array;
  /** The length of the JSON if binary data follow it, otherwise null. */
  readonly jsonLength: number | null;
}

export interface ResponseBody {
  readonly parts: readonly Uint8Array[];
  /** The length of the JSON if binary data follow it, otherwise null. */
  readonly jsonLength: number | null;
}

/** Converts request bodies to tensors and tensors to response bodies, for one model. */
export class Codec {
  private readonly exact: boolean;

  /** `name` is the name of the deployment. */
  constructor(
    private readonly signature: Signature,
    private readonly name: string,
  ) {
    this.exact = needsExactIntegers(signature);
  }

  /** Throws a RequestError. */
  decode({ kind, bytes, jsonLength }: RequestBody): InferenceRequest {
    const value = parseJson(jsonLength === null ? bytes : bytes.subarray(0, jsonLength), this.exact);
    if (kind === 'infer')
      return readInfer(value, jsonLength === null ? null : bytes.subarray(jsonLength), this.signature);
    return isInferForm(value) ? readJsonInfer(value, this.signature) : readPredict(value, this.signature);
  }

  /** Throws a RequestError if the outputs are too large for JSON. */
  encode(format: ResponseFormat, outputs: Tensors): ResponseBody {
    const named = format.outputs.map(({ index, binary }) => ({
      binary,
      name: JSON.stringify(this.signature.outputs[index]?.name),
      tensor: outputs[index] as Tensor,
    }));
    try {
      return format.kind === 'predict' ? predictResponse(named) : inferResponse(named, format.id, this.name);
    } catch (error) {
      // A RangeError means that the string is longer than V8 allows.
      if (!(error instanceof RangeError)) throw error;
      const message = 'The outputs are too large for JSON: ask for binary data, or for fewer outputs.';
      throw new RequestError('invalid_request', message);
    }
  }
}

interface NamedOutput {
  /** The name as JSON text. */
  readonly name: string;
  readonly tensor: Tensor;
  readonly binary: boolean;
}

function predictResponse(outputs: readonly NamedOutput[]): ResponseBody {
  const members = outputs.map(({ name, tensor }) => `${name}:{${typeAndData(tensor)}}`);
  return { parts: [Buffer.from(`{"outputs":{${members.join(',')}}}`)], jsonLength: null };
}

function inferResponse(outputs: readonly NamedOutput[], id: string | null, model: string): ResponseBody {
  const binary: Uint8Array[] = [];
  const tensors = outputs.map(({ name, tensor, binary: asBytes }) => {
    if (!asBytes) return `{"name":${name},${typeAndData(tensor)}}`;
    const bytes = bytesOf(tensor);
    binary.push(bytes);
    return `{"name":${name},${typeOf(tensor)},"parameters":{"binary_data_size":${bytes.length}}}`;
  });
  const caller = id === null ? '' : `"id":${JSON.stringify(id)},`;
  const header = `"model_name":${JSON.stringify(model)},"model_version":"${MODEL_VERSION}"`;
  const json = Buffer.from(`{${caller}${header},"outputs":[${tensors.join(',')}]}`);
  return { parts: [json, ...binary], jsonLength: binary.length > 0 ? json.length : null };
}

/** Returns an inference request of the Open Inference Protocol. It asks for all outputs if `outputs` is null. */
export function requestJson(
  inputs: readonly { readonly name: string; readonly tensor: Tensor }[],
  outputs: readonly string[] | null,
): Uint8Array {
  const tensors = inputs.map(({ name, tensor }) => `{"name":${JSON.stringify(name)},${typeAndData(tensor)}}`);
  const wanted = outputs ? `,"outputs":${JSON.stringify(outputs.map((name) => ({ name })))}` : '';
  return Buffer.from(`{"inputs":[${tensors.join(',')}]${wanted}}`);
}

const typeOf = ({ datatype, shape }: Tensor): string => `"datatype":"${datatype}","shape":[${shape.join(',')}]`;

const typeAndData = (tensor: Tensor): string => `${typeOf(tensor)},"data":${jsonData(tensor)}`;

/** Returns the elements as a JSON array. Integers of any size are exact. NaN and infinities are strings. */
function jsonData({ datatype, data }: Tensor): string {
  if (!isNumeric(data)) return JSON.stringify(data);
  if (datatype === 'BOOL') return `[${Array.from(data as Uint8Array, Boolean).join(',')}]`;
  const text = (datatype === 'FP16' ? decodeHalves(data as Uint16Array) : data).join(',');
  return `[${/[NI]/.test(text) ? text.replace(/NaN|-?Infinity/g, '"$&"') : text}]`;
}

/** Returns the elements as raw bytes, little-endian. Each string has its length before it. */
function bytesOf({ data }: Tensor): Uint8Array {
  if (isNumeric(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.concat(
    data.flatMap((text) => {
      const bytes = Buffer.from(text);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
}

const MAX_DEPTH = 32;
/** Limits for JSON text. Brackets, keys and short values take many times their size in memory after parsing. */
const MAX = { containers: 1_000_000, values: 8_000_000, keys: 10_000 };
/** The parser for integers beyond doubles is slow. */
const MAX_EXACT_BYTES = 8 * 1_024 * 1_024;
const ADVICE = 'send large tensors as binary data or as base64';

/** Parses JSON text. With `exact`, integers that a double cannot hold become bigints. Throws a RequestError. */
export function parseJson(bytes: Uint8Array, exact: boolean): unknown {
  const text = decodeUtf8(bytes);
  const { depth, containers, values, keys } = jsonNesting(text, MAX_DEPTH, MAX.values);
  if (depth > MAX_DEPTH) throw refused(`must not be nested deeper than ${MAX_DEPTH} levels`);
  if (containers > MAX.containers)
    throw refused(`must not have more than ${MAX.containers} arrays; send flat data and its shape`);
  if (keys > MAX.keys) throw refused(`must not have more than ${MAX.keys} object members`);
  if (values > MAX.values) throw refused(`must not have more than ${MAX.values} values; ${ADVICE}`);
  const hasLongIntegers = exact && LONG_INTEGER.test(text);
  if (hasLongIntegers && bytes.length > MAX_EXACT_BYTES)
    throw refused(`must not be JSON of more than ${MAX_EXACT_BYTES} bytes with integers of 16 digits; ${ADVICE}`);
  try {
    const value: unknown = JSON.parse(text);
    return hasLongIntegers ? parse(text, null, { parseNumber, onDuplicateKey }) : value;
  } catch (error) {
    // The message of the parser quotes a piece of the body. Only the position is passed on.
    const position = /at position \d+/.exec((error as Error).message)?.[0];
    const problem = text.trim() === '' ? 'The body is empty; send a JSON object.' : 'The body is not JSON';
    throw new RequestError('malformed_json', position ? `${problem}: unexpected text ${position}.` : problem);
  }
}

/** Returns whether the model has inputs whose values doubles cannot hold. */
const needsExactIntegers = ({ inputs }: Signature): boolean =>
  inputs.some(({ datatype }) => datatype === 'INT64' || datatype === 'UINT64');

/** Matches 16 digits, because shorter integers are safe. Skips fractions and the start of strings. */
const LONG_INTEGER = /(?<![\d."])\d{16}/;
/** Longer integers are out of range for every datatype. */
const MAX_DIGITS = 400;

function parseNumber(text: string): number | bigint {
  const number = Number(text);
  const isLong = text.length <= MAX_DIGITS && !Number.isSafeInteger(number) && /^-?\d+$/.test(text);
  return isLong ? BigInt(text) : number;
}

/** Takes the last value, as `JSON.parse` does. */
const onDuplicateKey = ({ newValue }: { newValue: unknown }): unknown => newValue;

const refused = (message: string): RequestError => invalidRequest([{ path: 'body', message }]);

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RequestError('malformed_json', 'The body is not UTF-8.');
  }
}
