interface Referring {
  readonly name: string;
  readonly refers: readonly string[];
}

/** Sorts each after all that it refers to. Throws if they refer to each other in a circle. */
export function referredFirst<T extends Referring>(all: readonly T[]): T[] {
  const sorted: T[] = [];
  for (let left = [...all]; left.length > 0; ) {
    const waiting = new Set(left.map(({ name }) => name));
    const free = left.filter(({ refers }) => !refers.some((name) => waiting.has(name)));
    if (free.length === 0) throw new Error(`these refer to each other in a circle: ${[...waiting].join(', ')}`);
    sorted.push(...free);
    left = left.filter((one) => !free.includes(one));
  }
  return sorted;
}
