import { parse } from 'lossless-json';
import { jsonNesting } from '../../../domain/shared/json-nesting.js';
import { invalidRequest, RequestError } from './request-error.js';
import type { Signature } from './tensors.js';

const MAX_DEPTH = 32;
/** Text that is all brackets, keys or short values takes many times its size in memory once parsed. */
const MAX = { containers: 1_000_000, values: 8_000_000, keys: 10_000 };
/** The parser for integers beyond doubles is slow. */
const MAX_EXACT_BYTES = 8 * 1_024 * 1_024;
const ADVICE = 'send large tensors as binary data or as base64';

/**
 * Parses JSON text. With `exact`, integers that a double would change become bigints. Throws a RequestError.
 */
export function parseJson(bytes: Uint8Array, exact: boolean): unknown {
  const text = decodeUtf8(bytes);
  const { depth, containers, values, keys } = jsonNesting(text, MAX_DEPTH);
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
export const needsExactIntegers = ({ inputs }: Signature): boolean =>
  inputs.some(({ datatype }) => datatype === 'INT64' || datatype === 'UINT64');

/** Shorter integers are safe. The digits of a fraction and of a string do not match. */
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
