import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Decoder, Scores } from './decoder.js';
import { pick } from './sampling.js';

/** Bounds the memory that one step takes, and how long a cancellation waits for a long prompt. */
const PREFILL_CHUNK = 128;

export interface Generation {
  readonly prompt: readonly number[];
  /** Tokens that the answer may have; at least 1. */
  readonly room: number;
  readonly temperature: number;
  readonly stops: ReadonlySet<number>;
}

export interface Generated {
  /** Without the one that ended the answer. */
  readonly tokens: readonly number[];
  readonly finishReason: 'stop' | 'length';
}

/**
 * The answer to a prompt; null once it is no longer `wanted`. Between any two steps the thread is free for what came in
 * meanwhile, so that a cancellation costs one step more and not the whole answer.
 */
export async function generate(
  decoder: Decoder,
  { prompt, room, temperature, stops }: Generation,
  wanted: () => boolean,
  chunk = PREFILL_CHUNK,
): Promise<Generated | null> {
  const sequence = decoder.begin();
  const step = async (tokens: readonly number[]): Promise<Scores | null> => {
    await nextTurn();
    return wanted() ? decoder.advance(sequence, tokens) : null;
  };

  let scores: Scores | null = null;
  for (let at = 0; at < prompt.length; at += chunk) {
    scores = await step(prompt.slice(at, at + chunk));
    if (!scores) return null;
  }
  const tokens: number[] = [];
  while (scores) {
    const token = pick(scores, temperature);
    if (stops.has(token)) return { tokens, finishReason: 'stop' };
    tokens.push(token);
    if (tokens.length >= room) return { tokens, finishReason: 'length' };
    scores = await step([token]);
  }
  return null;
}
