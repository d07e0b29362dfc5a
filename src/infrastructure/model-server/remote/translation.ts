/** Translates predictions to the Open Inference Protocol and back, and checks the answers of engines elsewhere. */
import { Codec, parseJson, type RequestBody, type ResponseBody, requestJson } from '../process/codec.js';
import { elementProblem, jsonShape, unevenAt } from '../process/elements.js';
import { isInferForm } from '../process/inference-request.js';
import { countOf, tensorOfBytes, tensorOfJson } from '../process/input-tensors.js';
import { InvalidField, invalidRequest, RequestError, shortened } from '../process/request-error.js';
import { type Datatype, datatypes, type Signature, type Tensor, type TensorSpec } from '../process/tensors.js';
import { type EngineSignature, isObject, own } from './engine-signature.js';

/** A request to an engine, and the properties that its answer must have. */
export interface EngineRequest extends RequestBody {
  /** The names of the outputs that the caller wants, or null for all. */
  readonly outputs: readonly string[] | null;
  /** False if the form of the answer has no place for binary data. */
  readonly mayBeBinary: boolean;
}

/** Thrown for a wrong answer of an engine. Its message continues "The runtime gave no valid answer: ". */
export class WrongAnswer extends Error {}

/** The model that must answer a request. */
export interface AnsweringModel {
  /** The name of the deployment. */
  readonly name: string;
  readonly modelName: string;
  /** The version that must answer, or null for any. */
  readonly version: string | null;
}

/** Returns the request for the engine. Throws a RequestError. */
export function requestOf(body: RequestBody, isPredict: boolean, signature: EngineSignature): EngineRequest {
  const { bytes, jsonLength } = body;
  if (jsonLength !== null && jsonLength > bytes.length)
    throw invalidRequest([{ path: 'Inference-Header-Content-Length', message: 'is more than the length of the body' }]);
  const json = parseJson(jsonLength === null ? bytes : bytes.subarray(0, jsonLength), isPredict);
  if (!isPredict || isInferForm(json)) {
    if (isPredict) refuseBinary(json);
    return { kind: 'infer', bytes, jsonLength, outputs: wantedOutputs(json), mayBeBinary: !isPredict };
  }
  const known = knownSignature(json, signature);
  const { inputs, format } = new Codec(known, '').decode({ kind: 'predict', bytes, jsonLength: null });
  const asked = own(json, 'outputs');
  const names = format.outputs.map(({ index }) => String(known.outputs[index]?.name));
  const wanted = Array.isArray(asked) && asked.length > 0 ? names : null;
  const named = inputs.map((tensor, at) => ({ name: String(known.inputs[at]?.name), tensor }));
  return { kind: 'predict', bytes: requestJson(named, wanted), jsonLength: null, outputs: wanted, mayBeBinary: false };
}

/**
 * Returns the answer for the caller, in the form of the request and with the name of the deployment. Throws WrongAnswer
 * if the answer contradicts the request, the signature or its own counts.
 */
export function answerOf(
  { bytes, jsonLength }: ResponseBytes,
  request: Pick<EngineRequest, 'kind' | 'outputs' | 'mayBeBinary'>,
  model: AnsweringModel,
  signature: EngineSignature,
): ResponseBody {
  if (jsonLength !== null && (!request.mayBeBinary || jsonLength > bytes.length)) throw invalid(NO_ROOM_FOR_BINARY);
  const head = jsonLength === null ? bytes : bytes.subarray(0, jsonLength);
  const json = read(() => parseJson(head, request.kind === 'predict'), 'it is not JSON.');
  const outputs = checkedOutputs(json, request.outputs, model, signature);
  const binary = new BinaryData(jsonLength === null ? bytes.subarray(bytes.length) : bytes.subarray(jsonLength));
  if (request.kind === 'predict') return ownAnswer(outputs);
  for (const output of outputs) checkData(output, binary);
  binary.requireEnd();
  const renamed = own(json, 'model_name') === model.name ? head : renamedIn(head, model.name);
  if (jsonLength === null) return { parts: [renamed], jsonLength: null };
  return { parts: [renamed, bytes.subarray(jsonLength)], jsonLength: renamed.length };
}

export interface ResponseBytes {
  readonly bytes: Uint8Array;
  /** The length of the JSON if binary data follow it, otherwise null. */
  readonly jsonLength: number | null;
}

const isKnown = (datatype: unknown): datatype is Datatype =>
  datatype === 'BYTES' || (typeof datatype === 'string' && Object.hasOwn(datatypes, datatype));

/** Returns the signature for `Codec`. If the engine gives no metadata, derives the signature from the request. */
function knownSignature(json: unknown, { inputs, outputs }: EngineSignature): Signature {
  const requested = own(json, 'inputs');
  const named = Object.entries(isObject(requested) ? requested : {});
  const specs = inputs.length > 0 ? inputs : named.map(([name, value]) => ({ name, ...guessed(value), shape: [] }));
  const unsupported = specs.find(({ datatype }) => !isKnown(datatype));
  if (unsupported) {
    const message = `is ${unsupported.datatype}, which this form does not have: use /v2`;
    throw invalidRequest([{ path: `inputs.${unsupported.name}`, message }]);
  }
  const wanted = own(json, 'outputs');
  const names = outputs.length > 0 ? outputs.map(({ name }) => name) : Array.isArray(wanted) ? wanted : [];
  return {
    inputs: specs as TensorSpec[],
    outputs: names.map((name) => ({ name, datatype: 'FP32', shape: [] })),
  };
}

function guessed(value: unknown): { datatype: unknown } {
  const datatype = own(value, 'datatype');
  if (datatype !== undefined) return { datatype };
  let element = isObject(value) ? own(value, 'data') : value;
  while (Array.isArray(element)) element = element[0];
  return { datatype: typeof element === 'string' ? 'BYTES' : typeof element === 'boolean' ? 'BOOL' : 'FP32' };
}

function refuseBinary(json: unknown): void {
  const lists = [own(json, 'inputs'), own(json, 'outputs')].filter(Array.isArray);
  const parameters = [json, ...lists.flat()].map((one) => own(one, 'parameters'));
  const names = ['binary_data_size', 'binary_data_output', 'binary_data'];
  if (parameters.some((one) => names.some((name) => own(one, name))))
    throw invalidRequest([
      { path: 'outputs', message: 'binary data are taken and answered on /v2 only, not on /predict' },
    ]);
}

function wantedOutputs(json: unknown): string[] | null {
  const outputs = own(json, 'outputs');
  if (!Array.isArray(outputs) || outputs.length === 0) return null;
  return outputs.map((one) => own(one, 'name')).filter((name): name is string => typeof name === 'string');
}

interface Output {
  readonly name: string;
  readonly datatype: Datatype | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

function checkedOutputs(
  json: unknown,
  wanted: readonly string[] | null,
  { modelName, version }: AnsweringModel,
  signature: EngineSignature,
): Output[] {
  const [model, answeredVersion] = [own(json, 'model_name'), own(json, 'model_version')];
  const answersVersion = typeof answeredVersion === 'string' && answeredVersion !== '';
  const isOther = version !== null && answersVersion && answeredVersion !== version;
  if ((model !== undefined && model !== null && model !== modelName) || isOther) throw invalid(OTHER_MODEL);
  const outputs = own(json, 'outputs');
  if (!Array.isArray(outputs) || outputs.length === 0) throw invalid('it has no outputs.');
  const described = signature.outputs.length > 0 ? signature.outputs.map(({ name }) => name) : null;
  const allowed = wanted ?? described;
  const found = outputs.map((output: unknown): Output => {
    const [name, datatype] = [own(output, 'name'), own(output, 'datatype')];
    if (typeof name !== 'string' || (allowed && !allowed.includes(name))) throw invalid(OTHER_OUTPUT);
    if (typeof datatype !== 'string' || !isShape(own(output, 'shape')))
      throw invalid('it has an output without a type or a shape.');
    return { name, datatype: isKnown(datatype) ? datatype : null, fields: output as Output['fields'] };
  });
  const names = new Set(found.map(({ name }) => name));
  if (names.size < found.length || wanted?.some((name) => !names.has(name))) throw invalid(OTHER_OUTPUT);
  return found;
}

const isShape = (shape: unknown): shape is number[] =>
  Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= 0);

/** Throws WrongAnswer for a wrong number of elements or bytes, and for elements of another type. */
function checkData(output: Output, binary: BinaryData): void {
  const { datatype, fields } = output;
  const shape = own(fields, 'shape') as number[];
  const size = own(own(fields, 'parameters'), 'binary_data_size');
  if (size !== undefined && size !== null) {
    const bytes = binary.take(size);
    if (datatype) read(() => tensorOfBytes({ name: '', datatype, shape: [] }, { shape }, '', () => bytes), MISCOUNTED);
    else if (own(fields, 'datatype') === 'BF16' && bytes.length !== countOf(shape) * 2) throw invalid(MISCOUNTED);
    return;
  }
  const data = own(fields, 'data');
  const nested = jsonShape(data);
  if (!Array.isArray(data) || countOf(nested) !== countOf(shape) || unevenAt(data, nested)) throw invalid(MISCOUNTED);
  const wrong = wrongElement(output);
  if (wrong) throw invalid(wrong);
}

/** Returns the problem of the first element with another type than its output, or null. */
function wrongElement({ name, datatype, fields }: Output): string | null {
  const wrong = datatype && elementProblem(own(fields, 'data'), datatype);
  return wrong && `element ${wrong.index} of its output "${shortened(name)}" ${wrong.problem}.`;
}

/** Takes binary data in the order of the outputs. */
class BinaryData {
  constructor(private left: Uint8Array) {}

  take(size: unknown): Uint8Array {
    if (!Number.isSafeInteger(size) || (size as number) < 0 || (size as number) > this.left.length)
      throw invalid(MISCOUNTED);
    const bytes = this.left.subarray(0, size as number);
    this.left = this.left.subarray(size as number);
    return bytes;
  }

  requireEnd(): void {
    if (this.left.length > 0) throw invalid(MISCOUNTED);
  }
}

function ownAnswer(outputs: readonly Output[]): ResponseBody {
  const signature = { inputs: [], outputs: outputs.map(specOf) };
  const tensors = outputs.map((output) => tensorOf(output));
  const format = { kind: 'predict', id: null, outputs: outputs.map((_, index) => ({ index, binary: false })) } as const;
  return read(() => new Codec(signature, '').encode(format, tensors), 'it is too large for JSON.');
}

function specOf({ name, datatype }: Output): TensorSpec {
  if (datatype === null) throw invalid('it has an output of a type that this form does not have: use /v2.');
  return { name, datatype, shape: [] };
}

const tensorOf = (output: Output): Tensor =>
  read(
    () => tensorOfJson(specOf(output), { data: own(output.fields, 'data'), shape: own(output.fields, 'shape') }, ''),
    () => wrongElement(output) ?? MISCOUNTED,
  );

const NO_ROOM_FOR_BINARY = 'it has binary data where none were asked for, or fewer bytes than it says.';
const OTHER_MODEL = 'it is of another model than the one that was asked.';
const OTHER_OUTPUT = 'it has other outputs than those that were asked for.';
const MISCOUNTED = 'an output has other data than its shape and its type say.';

const invalid = (problem: string): WrongAnswer => new WrongAnswer(problem);

/** Returns the result of `work`. Throws WrongAnswer with the problem if the engine's data are invalid. */
function read<T>(work: () => T, problem: string | (() => string)): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof RequestError || error instanceof InvalidField
      ? invalid(typeof problem === 'string' ? problem : problem())
      : error;
  }
}

/** Returns the JSON text with another `model_name`. The rest stays the same, so numbers keep their digits. */
function renamedIn(json: Uint8Array, name: string): Uint8Array {
  const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString();
  const pieces: string[] = [];
  let copiedTo = 0;
  for (const [begin, end] of valuesOf(text, 'model_name')) {
    pieces.push(text.slice(copiedTo, begin), JSON.stringify(name));
    copiedTo = end;
  }
  if (copiedTo === 0) {
    copiedTo = text.indexOf('{') + 1;
    pieces.push(`${text.slice(0, copiedTo)}"model_name":${JSON.stringify(name)},`);
  }
  return Buffer.from([...pieces, text.slice(copiedTo)].join(''));
}

/** Yields the begin and the end of each value of a member of a JSON object. The values are strings or null. */
function* valuesOf(text: string, member: string): Generator<[number, number]> {
  const marks = /["[\]{}]/g;
  let depth = 0;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    if (mark[0] !== '"') depth += mark[0] === '[' || mark[0] === '{' ? 1 : -1;
    else {
      const end = endOfString(text, mark.index);
      marks.lastIndex = end;
      const colon = /\s*:\s*/y;
      colon.lastIndex = end;
      const isKey = depth === 1 && colon.test(text);
      if (!isKey || JSON.parse(text.slice(mark.index, end)) !== member) continue;
      const begin = colon.lastIndex;
      const valueEnd = text[begin] === '"' ? endOfString(text, begin) : begin + 'null'.length;
      marks.lastIndex = valueEnd;
      yield [begin, valueEnd];
    }
  }
}

function endOfString(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); ; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}
