import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { MAX_VALUES } from '../../application/shared/memory-budget.js';
import { type Finding, InvalidRequest } from '../../domain/shared/errors.js';
import { firstInexactNumber, jsonNesting, quoted, unstorableLeaf } from '../../domain/shared/text.js';
import { type BodyForm, type BodyRules, MAX_DEPTH } from './body.js';
import { HttpRefusal } from './refusals.js';
import type { SpooledBody } from './spooled-body.js';

/** A body of more bytes is parsed in steps. Other requests can run between the steps. */
const LONG_BYTES = 64 * 1024;

interface ParsedBody {
  readonly value: unknown;
  /** An upper bound for the number of JSON values. Null if they are not in memory together. */
  readonly values: number | null;
}

/**
 * Parses a JSON body and checks everything that needs no schema. The member `uncheckedMember` may contain values that
 * cannot be stored. Throws malformed_json, InvalidRequest.
 */
export async function parseBody(bytes: Buffer, rules: BodyRules): Promise<ParsedBody> {
  const pause = async () => bytes.length > LONG_BYTES && (await yieldToEventLoop());
  await pause();
  return storable(await parseJson(bytes, rules, pause), rules);
}

/** Reads a body in another form, or a long one, as its contract says. Otherwise like `parseBody`. */
export async function readForm(body: SpooledBody, form: BodyForm, rules: BodyRules): Promise<ParsedBody> {
  return storable({ value: await form.read(body), values: null }, rules);
}

async function storable(parsed: ParsedBody, rules: BodyRules): Promise<ParsedBody> {
  const unstorable = await firstUnstorable(parsed.value, rules.uncheckedMember);
  if (unstorable) throw new InvalidRequest([unstorable]);
  return parsed;
}

async function parseJson(
  bytes: Buffer,
  { exactNumbers, mostLevels }: BodyRules,
  pause: () => Promise<unknown>,
): Promise<ParsedBody> {
  if (!isUtf8(bytes)) throw new HttpRefusal('malformed_json', 'The body is not UTF-8.');
  const text = withoutMark(bytes).toString('utf8');
  const { problem, values, member } = checkJsonText(text, mostLevels);
  if (problem) throw new InvalidRequest([{ path: quoted(member), message: problem }]);
  await pause();
  const value = parsedJson(text);
  await pause();
  const inexact = exactNumbers ? inexactNumber(text) : null;
  if (inexact) throw new InvalidRequest([{ path: '', message: inexact }]);
  return { value, values };
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function withoutMark(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

/** Parses JSON. Throws malformed_json, without a piece of the text. `what` names the text in the message. */
export function parsedJson(text: string, what = 'The body'): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes a piece of the body, which may be secret.
    const where = /at position \d+/.exec((error as Error).message)?.[0];
    const problem = text.trim() === '' ? `${what} is empty; send a JSON object.` : `${what} is not JSON`;
    throw new HttpRefusal('malformed_json', where ? `${problem}: unexpected text ${where}.` : problem);
  }
}

interface TextCheck {
  readonly problem: string | null;
  /** The name of the outermost object's member with the problem. Empty if the outermost value is not an object. */
  readonly member: string;
  readonly values: number;
}

/** Checks the nesting and the number of values of JSON text before it is parsed. */
export function checkJsonText(text: string, mostLevels = MAX_DEPTH): TextCheck {
  const { depth, values, member } = jsonNesting(text, mostLevels, MAX_VALUES);
  if (depth > mostLevels) return { problem: `must not be nested deeper than ${mostLevels} levels`, member, values };
  return { problem: values > MAX_VALUES ? TOO_MANY_VALUES : null, member, values };
}

/** Returns the problem of the first number in valid JSON text that would lose digits, or null if there is none. */
export function inexactNumber(text: string): string | null {
  const number = firstInexactNumber(text);
  return number && `the number ${quoted(number)} would lose digits: send it as a string`;
}

export const TOO_MANY_VALUES = `must not have more than ${MAX_VALUES} values`;

/** The number of values that are checked in a few milliseconds. */
const BATCH = 20_000;

/** Returns a finding about the first value that cannot be stored, or null. Skips the outermost member `except`. */
export async function firstUnstorable(value: unknown, except?: string): Promise<Finding | null> {
  let checked = 0;
  for (const found of unstorable(value, '', except)) {
    if (typeof found === 'object') return found;
    checked += found;
    if (checked < BATCH) continue;
    checked = 0;
    await yieldToEventLoop();
  }
  return null;
}

/** Yields each problem, and now and then the number of values checked since the last number. */
function* unstorable(value: unknown, path: string, except?: string): Generator<Finding | number> {
  const own = unstorableLeaf(value);
  if (own) yield { path, message: own };
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  let checked = 1;
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key];
    if (key === except) continue;
    const name = isList ? null : unstorableLeaf(key);
    if (name) yield { path, message: name };
    const found = unstorableLeaf(member);
    if (found) yield { path: below(path, key), message: found };
    if (typeof member === 'object' && member !== null) yield* unstorable(member, below(path, key));
    if (++checked % BATCH === 0) yield BATCH;
  }
  yield checked % BATCH;
}

const below = (path: string, key: string | number) => `${path === '' ? '' : `${path}.`}${quoted(String(key))}`;
