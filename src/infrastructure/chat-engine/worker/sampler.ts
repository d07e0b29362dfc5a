/** Chooses the tokens of an answer by their scores. */
import type { Sampling } from '../../../domain/chat/chat.js';
import type { Scores } from './decoder.js';

/** For one answer. */
export class Sampler {
  private readonly random: () => number;
  private readonly topP: number;
  private readonly presence: number;
  private readonly frequency: number;
  private readonly bias: readonly (readonly [token: number, by: number])[];
  /** The occurrences of tokens so far, if they matter. */
  private readonly counts = new Map<number, number>();

  /** Without a seed the answer can't be repeated. The generator is not good for secrets. */
  constructor(
    private readonly temperature: number,
    sampling: Sampling = {},
    random?: () => number,
  ) {
    const { seed, topP = 1, presencePenalty = 0, frequencyPenalty = 0, logitBias = {} } = sampling;
    this.random = random ?? (seed === undefined ? Math.random : seeded(seed));
    this.topP = topP;
    this.presence = presencePenalty;
    this.frequency = frequencyPenalty;
    this.bias = Object.entries(logitBias).map(([token, by]) => [Number(token), by]);
  }

  /** Returns the best token at temperature 0, else one drawn by its probability. Throws if no score is a number. */
  next(scores: Scores): number {
    const adjusted = this.adjusted(scores);
    const best = bestOf(adjusted);
    const token = this.temperature > 0 ? this.draw(adjusted, adjusted[best] as number) : best;
    if (this.presence !== 0 || this.frequency !== 0) this.counts.set(token, (this.counts.get(token) ?? 0) + 1);
    return token;
  }

  private adjusted(scores: Scores): Scores {
    if (this.bias.length === 0 && this.counts.size === 0) return scores;
    const adjusted = new Float32Array(scores);
    for (const [token, by] of this.bias) adjusted[token] = (adjusted[token] as number) + by;
    for (const [token, count] of this.counts)
      adjusted[token] = (adjusted[token] as number) - this.presence - this.frequency * count;
    return adjusted;
  }

  private draw(scores: Scores, highest: number): number {
    const weights = new Float64Array(scores.length);
    // Relative to the highest score, so that no power overflows. NaN gets no weight.
    for (let token = 0; token < weights.length; token++)
      weights[token] = Math.exp(((scores[token] as number) - highest) / this.temperature) || 0;
    if (this.topP < 1) keepNucleus(weights, this.topP);
    let left = this.random() * sumOf(weights);
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

/** Leaves only the likeliest tokens that have the share `topP` of all weights, and as few as possible. */
function keepNucleus(weights: Float64Array, topP: number): void {
  const sum = sumOf(weights);
  const wanted = topP * sum;
  // All tokens below this weight have less than the rest of the sum, so the nucleus has none of them, and few are sorted.
  const least = (sum - wanted) / weights.length;
  const candidates = weights.filter((weight) => weight >= least).sort();
  let first = candidates.length;
  for (let kept = 0; first > 0 && kept < wanted; ) {
    first -= 1;
    kept += candidates[first] as number;
  }
  const bound = candidates[first] as number;
  let alike = candidates.lastIndexOf(bound) + 1 - first;
  for (let token = 0; token < weights.length; token++) {
    const weight = weights[token] as number;
    if (weight > bound) continue;
    if (weight < bound || alike === 0) weights[token] = 0;
    else alike -= 1;
  }
}

function sumOf(weights: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i] as number;
  return sum;
}

/** Returns a generator of numbers from 0 up to but not including 1 (sfc32 of PractRand). */
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
