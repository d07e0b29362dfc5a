import type { Scores } from './decoder.js';

/** The next token: the best one at temperature 0, else drawn by its probability. Throws where no score is a number. */
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
  // Relative to the highest score, so that no power overflows; what is no number gets no weight.
  const weights = Float64Array.from(scores, (score) => Math.exp((score - highest) / temperature) || 0);
  let left = chance * weights.reduce((sum, weight) => sum + weight, 0);
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
