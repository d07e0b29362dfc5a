import { Patience } from '../../src/infrastructure/typeorm/patience.js';

/** What a caller with so much patience does; `answered` tells it that there is an answer. */
export function asCaller<T>(ms: number, work: () => Promise<T>): { done: Promise<T>; answered: () => void } {
  let answered: () => void = () => undefined;
  const done = new Promise<T>((resolve, reject) => {
    answered = Patience.bound(ms, () => void work().then(resolve, reject));
  });
  return { done, answered };
}
