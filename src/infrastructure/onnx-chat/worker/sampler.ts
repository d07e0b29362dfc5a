import type { Sampling } from '../../../domain/chat/chat.js';
import type { Scores } from './decoder.js';
import { masked } from './grammar/mask.js';
import { negativeExp, REACH } from './negative-exp.js';

/** Chooses the tokens of one answer. */
export class Sampler {
  private readonly random: () => number;
  private readonly topP: number;
  private readonly topK: number;
  private readonly minP: number;
  private readonly presence: number;
  private readonly frequency: number;
  private readonly bias: readonly (readonly [token: number, by: number])[];
  /** The number of times that each token was chosen. Stays empty if there is no penalty. */
  private readonly counts = new Map<number, number>();
  private readonly repetition: number;
  /** The tokens of the prompt and the answer. Stays empty if repetitions have no penalty. */
  private readonly seen: Set<number>;

  /** With a seed, the answer can be repeated. The random numbers are not safe for secrets. */
  constructor(
    private readonly temperature: number,
    sampling: Sampling = {},
    random?: () => number,
    prompt: readonly number[] = [],
  ) {
    const { topK = Number.POSITIVE_INFINITY, minP = 0, repetitionPenalty = 1 } = sampling;
    const { seed, topP = 1, presencePenalty = 0, frequencyPenalty = 0, logitBias = {} } = sampling;
    this.random = random ?? (seed === undefined ? Math.random : seeded(seed));
    this.topP = topP;
    this.topK = topK;
    this.minP = minP;
    this.repetition = repetitionPenalty;
    this.seen = new Set(repetitionPenalty === 1 ? [] : prompt);
    this.presence = presencePenalty;
    this.frequency = frequencyPenalty;
    this.bias = Object.entries(logitBias).map(([token, by]) => [Number(token), by]);
  }

  /**
   * Returns the token with the highest score at temperature 0, else a random token by its probability. In `allowed`,
   * the bit of each token that may be chosen is 1. Throws if every score is NaN or minus infinity.
   */
  next(scores: Scores, allowed?: Int32Array): number {
    const adjusted = this.adjusted(allowed ? masked(scores, allowed) : scores);
    const best = bestOf(adjusted);
    const token = this.temperature > 0 ? this.draw(adjusted, adjusted[best] as number) : best;
    if (this.presence !== 0 || this.frequency !== 0) this.counts.set(token, (this.counts.get(token) ?? 0) + 1);
    if (this.repetition !== 1) this.seen.add(token);
    return token;
  }

  private adjusted(scores: Scores): Scores {
    if (this.bias.length === 0 && this.counts.size === 0 && this.seen.size === 0) return scores;
    const adjusted = new Float32Array(scores);
    for (const token of this.seen) {
      const score = adjusted[token] as number;
      adjusted[token] = score > 0 ? score / this.repetition : score * this.repetition;
    }
    for (const [token, by] of this.bias) adjusted[token] = (adjusted[token] as number) + by;
    for (const [token, count] of this.counts)
      adjusted[token] = (adjusted[token] as number) - this.presence - this.frequency * count;
    return adjusted;
  }

  private draw(scores: Scores, highest: number): number {
    const { temperature } = this;
    const distanceOf = (token: number) => (highest - (scores[token] as number)) / temperature;
    const weights = new Float64Array(scores.length);
    let sum = 0;
    for (let token = 0; token < weights.length; token++) {
      const weight = negativeExp(distanceOf(token));
      weights[token] = weight;
      sum += weight;
    }
    if (this.topK < weights.length) sum = keepLikeliest(weights, distanceOf, this.topK, () => 1);
    if (this.topP < 1) sum = keepLikeliest(weights, distanceOf, this.topP * sum, (weight) => weight);
    if (this.minP > 0) sum = keepAbove(weights, this.minP);
    let left = this.random() * sum;
    let last = 0;
    for (let token = 0; token < weights.length; token++) {
      const weight = weights[token] as number;
      if (weight === 0) continue;
      last = token;
      left -= weight;
      if (left < 0) break;
    }
    return last;
  }
}

function bestOf(scores: Scores): number {
  let best = -1;
  let highest = Number.NEGATIVE_INFINITY;
  for (let token = 0; token < scores.length; token++) {
    const score = scores[token] as number;
    if (score > highest) {
      best = token;
      highest = score;
    }
  }
  if (best < 0) throw new Error('it scored no token');
  return best;
}

/** The buckets for each unit of distance. Few tokens share a bucket, so few tokens are sorted. */
const BUCKETS = 64;

/**
 * Keeps the weights of the fewest likeliest tokens whose measures reach `wanted` together. Sets the others to 0. Returns
 * the sum of the kept weights.
 */
function keepLikeliest(
  weights: Float64Array,
  distanceOf: (token: number) => number,
  wanted: number,
  measure: (weight: number) => number,
): number {
  const bucketOf = (token: number) => (distanceOf(token) * BUCKETS) | 0;
  const sums = new Float64Array(REACH * BUCKETS);
  for (let token = 0; token < weights.length; token++) {
    if (weights[token] === 0) continue;
    const bucket = bucketOf(token);
    sums[bucket] = (sums[bucket] as number) + measure(weights[token] as number);
  }
  let kept = 0;
  let last = 0;
  for (; last < sums.length - 1 && kept + (sums[last] as number) < wanted; last++) kept += sums[last] as number;
  const doubtful: number[] = [];
  let sum = 0;
  for (let token = 0; token < weights.length; token++) {
    if (weights[token] === 0) continue;
    const bucket = bucketOf(token);
    if (bucket === last) doubtful.push(token);
    else if (bucket > last) weights[token] = 0;
    else sum += weights[token] as number;
  }
  doubtful.sort((a, b) => distanceOf(a) - distanceOf(b) || a - b);
  for (const token of doubtful) {
    const weight = weights[token] as number;
    if (kept > 0 && kept >= wanted) weights[token] = 0;
    else {
      kept += measure(weight);
      sum += weight;
    }
  }
  return sum;
}

/** Sets the weights below `least` to 0. The likeliest token has the weight 1. Returns the sum of the others. */
function keepAbove(weights: Float64Array, least: number): number {
  let sum = 0;
  for (let token = 0; token < weights.length; token++) {
    if ((weights[token] as number) < least) weights[token] = 0;
    sum += weights[token] as number;
  }
  return sum;
}

/** Returns a generator of numbers from 0 to below 1 (sfc32 of PractRand). */
function seeded(seed: number): () => number {
  let [a, b, c, counter] = [0, Math.floor(seed / 2 ** 32) | 0, seed | 0, 1];
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next();
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}
