import type { Scores } from './decoder.js';

/**
 * The next token: the best one at temperature 0, else drawn by its probability, from all tokens. Throws where no score is
 * a number. Chance is the generator of the JavaScript engine (xorshift128+, which the system seeds at the start of the
 * process): good for variety, not for secrets, and it can't be seeded, so no answer can be had twice on purpose.
 */
export function pick(scores: Scores, temperature: number, chance: () => number = Math.random): number {
  const best = bestOf(scores);
  return temperature > 0 ? draw(scores, scores[best] as number, temperature, chance()) : best;
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

function draw(scores: Scores, highest: number, temperature: number, chance: number): number {
  const weights = new Float64Array(scores.length);
  let sum = 0;
  for (let token = 0; token < weights.length; token++) {
    // Relative to the highest score, so that no power overflows; what is no number gets no weight.
    const weight = Math.exp(((scores[token] as number) - highest) / temperature) || 0;
    weights[token] = weight;
    sum += weight;
  }
  let left = chance * sum;
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
