/** Reads the JSON of an engine's answer. The main thread and the answer thread both use it. */
import type { z } from 'zod';
import type { TokenLogprob } from '../../domain/chat/chat.js';
import { jsonNesting } from '../../domain/shared/text.js';

const MOST_LEVELS = 64;
/** 4,096 tokens, each with the 20 likeliest ones and their bytes, have some 800,000 values. */
const MOST_VALUES = 1_500_000;

/** An answer, or what is wrong with it. The problem continues "The runtime gave no valid answer: ". */
export type Read<T> = { readonly value: T } | { readonly problem: string };

/** `problem` says what is wrong if the schema does not. Measures the text before it parses it. */
export function readJson<T>(schema: z.ZodType<T>, text: string, problem: string): Read<T> {
  const { depth, values } = jsonNesting(text, MOST_LEVELS, MOST_VALUES);
  if (depth > MOST_LEVELS) return { problem: `it is nested deeper than ${MOST_LEVELS} levels.` };
  if (values > MOST_VALUES) return { problem: `it has more than ${MOST_VALUES} values.` };
  const { data, error } = schema.safeParse(jsonOf(text));
  return error ? { problem: error.issues[0]?.message ?? problem } : { value: data };
}

/** Returns undefined for a text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const LINE = 10;

/** Log probabilities as lines of JSON. As objects they would take ten times the memory, and long to copy. */
export class PackedLogprobs implements Iterable<TokenLogprob> {
  constructor(private readonly lines: Uint8Array) {}

  static pack(logprobs: Iterable<TokenLogprob>): Uint8Array {
    return Buffer.from(Array.from(logprobs, (one) => `${JSON.stringify(one)}\n`).join(''));
  }

  *[Symbol.iterator](): Generator<TokenLogprob> {
    const { buffer, byteOffset, byteLength } = this.lines;
    const lines = Buffer.from(buffer, byteOffset, byteLength);
    for (let from = 0, to = 0; from < lines.length; from = to + 1) {
      to = lines.indexOf(LINE, from);
      yield JSON.parse(lines.toString('utf8', from, to));
    }
  }
}
