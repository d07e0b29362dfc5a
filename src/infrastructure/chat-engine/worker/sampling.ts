/** Chooses the next token. */
import type { Scores } from './decoder.js';

/**
 * Returns the best token at temperature 0, else one drawn by its probability from all tokens. Throws if no score is a
 * number. The default generator cannot be seeded, so no answer can be repeated on purpose; it is not good for secrets.
 */
export function sample(scores: Scores, temperature: number, random: () => number = Math.random): number {
  const best = bestOf(scores);
  return temperature > 0 ? draw(scores, scores[best] as number, temperature, random()) : best;
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

function draw(scores: Scores, highest: number, temperature: number, random: number): number {
  const weights = new Float64Array(scores.length);
  let sum = 0;
  for (let token = 0; token < weights.length; token++) {
    // Relative to the highest score, so that no power overflows. NaN gets no weight.
    const weight = Math.exp(((scores[token] as number) - highest) / temperature) || 0;
    weights[token] = weight;
    sum += weight;
  }
  let left = random * sum;
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
