import { decodeHalves } from '../../onnx/onnx-runtime.js';
import { type InferenceRequest, type ResponseFormat, readInfer, readPredict } from './inference-request.js';
import { needsExactIntegers, parseJson } from './json-body.js';
import { RequestError } from './request-error.js';
import { isNumeric, type Signature, type Tensor, type Tensors } from './tensors.js';

/** A request body as it arrived. */
export interface RequestBody {
  readonly kind: 'predict' | 'infer';
  readonly bytes: Uint8Array;
  /** The length of the JSON if binary data follow it, otherwise null. */
  readonly jsonLength: number | null;
}

/** A response body in pieces. */
export interface ResponseBody {
  readonly parts: readonly Uint8Array[];
  /** The length of the JSON if binary data follow it, otherwise null. */
  readonly jsonLength: number | null;
}

/** Converts request bodies to tensors and tensors to response bodies, for one model. */
export class Codec {
  private readonly exact: boolean;

  /** `name` is the deployment's. */
  constructor(
    private readonly signature: Signature,
    private readonly name: string,
  ) {
    this.exact = needsExactIntegers(signature);
  }

  /** Throws a RequestError. */
  decode({ kind, bytes, jsonLength }: RequestBody): InferenceRequest {
    const value = parseJson(jsonLength === null ? bytes : bytes.subarray(0, jsonLength), this.exact);
    if (kind === 'predict') return readPredict(value, this.signature);
    return readInfer(value, jsonLength === null ? null : bytes.subarray(jsonLength), this.signature);
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
      // A string longer than V8 allows.
      if (!(error instanceof RangeError)) throw error;
      const message = 'The outputs are too large for JSON: ask for binary data, or for fewer outputs.';
      throw new RequestError('invalid_request', message);
    }
  }
}

interface NamedOutput {
  /** As JSON. */
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
  const header = `"model_name":${JSON.stringify(model)},"model_version":"1"`;
  const json = Buffer.from(`{${caller}${header},"outputs":[${tensors.join(',')}]}`);
  return { parts: [json, ...binary], jsonLength: binary.length > 0 ? json.length : null };
}

const typeOf = ({ datatype, shape }: Tensor): string => `"datatype":"${datatype}","shape":[${shape.join(',')}]`;

const typeAndData = (tensor: Tensor): string => `${typeOf(tensor)},"data":${jsonData(tensor)}`;

/** Writes integers of any size exactly, and the numbers that JSON lacks as strings. */
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
