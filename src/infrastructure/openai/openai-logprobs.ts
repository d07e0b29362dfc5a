/** Reads the log probabilities in answers of engines with OpenAI's API. */
import { z } from 'zod';
import type { Logprob, TokenLogprob } from '../../domain/chat/chat.js';

const NO_LOGPROBS = 'its log probabilities are invalid.';

/** The most characters of a token. */
const LONGEST_TOKEN = 1_000;

/** Reads a list of log probabilities, or returns null if it is invalid. A schema for each value would take ten times as long. */
function listOf<T>(list: unknown, read: (entry: Readonly<Record<string, unknown>>) => T | null): T[] | null {
  if (!Array.isArray(list)) return null;
  const all: T[] = [];
  for (const entry of list) {
    const one = typeof entry === 'object' && entry !== null ? read(entry) : null;
    if (one === null) return null;
    all.push(one);
  }
  return all;
}

function logprobOf({ token, logprob, bytes }: Readonly<Record<string, unknown>>): Logprob | null {
  if (typeof token !== 'string' || token.length > LONGEST_TOKEN || !Number.isFinite(logprob)) return null;
  const own = bytes ?? [...Buffer.from(token)];
  return Array.isArray(own) && own.every(isByte) ? { token, logprob: logprob as number, bytes: own } : null;
}

const isByte = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;

function tokenOf(entry: Readonly<Record<string, unknown>>): TokenLogprob | null {
  const token = logprobOf(entry);
  const top = listOf(entry.top_logprobs ?? [], logprobOf);
  return token && top && { ...token, top };
}

export const Logprobs = z
  .object(
    {
      content: z
        .unknown()
        .transform((content, { addIssue }) => {
          const tokens = content === null || content === undefined ? undefined : listOf(content, tokenOf);
          if (tokens === null) addIssue(NO_LOGPROBS);
          return tokens ?? undefined;
        })
        .optional(),
    },
    NO_LOGPROBS,
  )
  .nullish();
