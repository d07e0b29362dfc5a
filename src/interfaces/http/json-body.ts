import { isUtf8 } from 'node:buffer';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { BodyForm } from './body.js';
import { checkJsonText, firstUnstorable } from './json-rules.js';
import { HttpRefusal } from './refusals.js';

/** Shorter bodies are parsed at once. Between the steps of a longer one other requests get their turn. */
const LONG = 64 * 1024;

export interface ParsedBody {
  readonly value: unknown;
  /** The number of JSON values; null for another media type. */
  readonly values: number | null;
}

/**
 * Parses a body and checks everything that needs no schema. The member named `judgedLater` may hold what cannot be stored.
 * Throws malformed_json, InvalidRequest.
 */
export async function parseBody(bytes: Buffer, form: BodyForm | null, judgedLater?: string): Promise<ParsedBody> {
  const pause = async () => bytes.length > LONG && (await yieldToEventLoop());
  await pause();
  const parsed = form ? { value: await form.read(utf8(bytes)), values: null } : await parseJson(bytes, pause);
  const unstorable = await firstUnstorable(parsed.value, judgedLater);
  if (unstorable) throw new InvalidRequest([unstorable]);
  return parsed;
}

async function parseJson(bytes: Buffer, pause: () => Promise<unknown>): Promise<ParsedBody> {
  if (!isUtf8(bytes)) throw new HttpRefusal('malformed_json', 'The body is not UTF-8.');
  const text = withoutMark(bytes).toString('utf8');
  const { problem, values } = checkJsonText(text);
  if (problem) throw new InvalidRequest([{ path: '', message: problem }]);
  await pause();
  const value = parsed(text);
  await pause();
  return { value, values };
}

function utf8(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new InvalidRequest([{ path: '', message: 'must be UTF-8' }]);
  return withoutMark(bytes);
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

function withoutMark(bytes: Buffer): Buffer {
  const marked = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return marked ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's own message quotes a piece of the body, which may be secret.
    const where = /at position \d+/.exec((error as Error).message)?.[0];
    const what = text.trim() === '' ? 'The body is empty; send a JSON object.' : 'The body is not JSON';
    throw new HttpRefusal('malformed_json', where ? `${what}: unexpected text ${where}.` : what);
  }
}
