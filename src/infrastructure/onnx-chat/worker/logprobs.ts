/** Reports how likely the tokens of an answer were. */
import type { Logprob, TokenLogprob } from '../../../domain/chat/chat.js';
import type { Scores } from './decoder.js';
import { negativeExp } from './negative-exp.js';

/** Replaces minus infinity, which JSON does not have. */
const IMPOSSIBLE = -9_999;

/** Returns a token with its natural log probability, and the `count` likeliest tokens. */
export function logprobOf(
  scores: Scores,
  token: number,
  count: number,
  bytesOf: (token: number) => readonly number[],
): TokenLogprob {
  const total = logSumExp(scores);
  const logprob = (one: number): Logprob => {
    const bytes = bytesOf(one);
    const difference = (scores[one] as number) - total;
    return { token: Buffer.from(bytes).toString(), bytes, logprob: Math.max(IMPOSSIBLE, difference) };
  };
  return { ...logprob(token), top: likeliest(scores, count).map(logprob) };
}

/** Ignores scores that are NaN. */
function logSumExp(scores: Scores): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < scores.length; token++)
    if ((scores[token] as number) > highest) highest = scores[token] as number;
  let sum = 0;
  for (let token = 0; token < scores.length; token++) sum += negativeExp(highest - (scores[token] as number));
  return highest + Math.log(sum);
}

/** Returns the tokens with the highest scores, the highest first. Of equal scores, the smaller token comes first. */
function likeliest(scores: Scores, count: number): number[] {
  const found: number[] = [];
  const scoreOf = (token: number | undefined) => scores[token as number] as number;
  let least = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < scores.length && count > 0; token++) {
    const score = scores[token] as number;
    if (!(score > least)) continue;
    const behind = found.findIndex((other) => scoreOf(other) < score);
    found.splice(behind < 0 ? found.length : behind, 0, token);
    if (found.length > count) found.pop();
    if (found.length === count) least = scoreOf(found.at(-1));
  }
  return found;
}
