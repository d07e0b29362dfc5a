import { parse } from 'lossless-json';
import { jsonNesting } from '../../../domain/shared/json-nesting.js';
import { invalidRequest } from './findings.js';
import { Refusal } from './refusal.js';
import type { Signature } from './tensors.js';

const DEPTH = 32;
/** What a parser builds takes many times the memory of the text where that is all brackets, keys or short values. */
const MOST = { containers: 1_000_000, values: 8_000_000, keys: 10_000 };
/** Integers that doubles can't hold take a parser that is slow. */
const MOST_EXACT = 8 * 1_024 * 1_024;
const OTHERWISE = 'send large tensors as binary data or as base64';

/**
 * The value of JSON text. Integers that a double would change come as bigints where `exact`. Throws a Refusal.
 */
export function parseJson(bytes: Uint8Array, exact: boolean): unknown {
  const text = decoded(bytes);
  const { depth, containers, values, keys } = jsonNesting(text, DEPTH);
  if (depth > DEPTH) throw refused(`must not be nested deeper than ${DEPTH} levels`);
  if (containers > MOST.containers)
    throw refused(`must not have more than ${MOST.containers} arrays; send flat data and its shape`);
  if (keys > MOST.keys) throw refused(`must not have more than ${MOST.keys} object members`);
  if (values > MOST.values) throw refused(`must not have more than ${MOST.values} values; ${OTHERWISE}`);
  const isLong = exact && LONG_DIGITS.test(text);
  if (isLong && bytes.length > MOST_EXACT)
    throw refused(`must not be JSON of more than ${MOST_EXACT} bytes with integers of 16 digits; ${OTHERWISE}`);
  try {
    const value: unknown = JSON.parse(text);
    return isLong ? parse(text, null, { parseNumber, onDuplicateKey }) : value;
  } catch (error) {
    // The parser's own words, without the piece of the body that it quotes.
    const where = /at position \d+/.exec((error as Error).message)?.[0];
    const what = text.trim() === '' ? 'The body is empty; send a JSON object.' : 'The body is not JSON';
    throw new Refusal('malformed_json', where ? `${what}: unexpected text ${where}.` : what);
  }
}

/** Whether a model has inputs that doubles can't hold. */
export const needsExact = ({ inputs }: Signature): boolean =>
  inputs.some(({ datatype }) => datatype === 'INT64' || datatype === 'UINT64');

/** Only integers as long as this one can be unsafe. Neither the digits of a fraction nor a string of them is one. */
const LONG_DIGITS = /(?<![\d."])\d{16}/;
/** Longer ones are beyond any type. */
const LONGEST_INTEGER = 400;

function parseNumber(text: string): number | bigint {
  const number = Number(text);
  const isLong = text.length <= LONGEST_INTEGER && !Number.isSafeInteger(number) && /^-?\d+$/.test(text);
  return isLong ? BigInt(text) : number;
}

/** As `JSON.parse` does. */
const onDuplicateKey = ({ newValue }: { newValue: unknown }): unknown => newValue;

const refused = (message: string): Refusal => invalidRequest([{ path: 'body', message }]);

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal('malformed_json', 'The body is not UTF-8.');
  }
}
