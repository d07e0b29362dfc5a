interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | Promise<Result>) => void;
  readonly reject: (error: unknown) => void;
}

const MOST_AT_ONCE = 64;

/**
 * Works on items with the same key together. While a batch is worked on, later items wait and become the next batch. So
 * an item alone never waits, and many items cost little more than a few.
 */
export class Batches<Item, Result> {
  private readonly waiting = new Map<string, Waiting<Item, Result>[]>();

  /**
   * `work` returns a result or its promise for each item, in order. The weights of the items of a batch are together at
   * most `most`, unless it has only one item.
   */
  constructor(
    private readonly work: (items: readonly Item[]) => Promise<readonly (Result | Promise<Result>)[]>,
    private readonly limit: { readonly most: number; readonly weightOf: (item: Item) => number } | null = null,
  ) {}

  /** Returns the result of the item. Throws what `work` throws. */
  add(key: string, item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      const known = this.waiting.get(key);
      const one = { item, resolve, reject };
      if (known) known.push(one);
      else {
        this.waiting.set(key, [one]);
        void this.run(key);
      }
    });
  }

  /** Returns how many of the items make the next batch. */
  private fitting(waiting: readonly Waiting<Item, Result>[]): number {
    const most = Math.min(waiting.length, MOST_AT_ONCE);
    if (!this.limit) return most;
    let [count, weight] = [0, 0];
    for (; count < most; count++) {
      weight += this.limit.weightOf((waiting[count] as Waiting<Item, Result>).item);
      if (count > 0 && weight > this.limit.most) break;
    }
    return count;
  }

  private async run(key: string): Promise<void> {
    for (;;) {
      const waiting = this.waiting.get(key) ?? [];
      const batch = waiting.splice(0, this.fitting(waiting));
      if (batch.length === 0) break;
      try {
        const results = await this.work(batch.map(({ item }) => item));
        for (const [nth, { resolve }] of batch.entries()) resolve(results[nth] as Result | Promise<Result>);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.waiting.delete(key);
  }
}
