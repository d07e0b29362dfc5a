import type { Sharing } from './ports.js';
import { turn } from './turn.js';

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** What became of one item of a batch. */
export type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * Works on items together: what comes within a turn of the event loop, or while a batch is under way, becomes the next
 * batch. However many come, each waits for two batches at most, as long as one holds them all. None waits
 * longer than its caller may.
 */
export class Batches<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private working = false;

  constructor(
    private readonly sharing: Sharing,
    private readonly most: number,
    /** One outcome for each item, in their order. What it throws is the outcome of all, and of those that wait. */
    private readonly work: (items: readonly Item[]) => Promise<readonly Outcome<Result>[]>,
  ) {}

  add(item: Item): Promise<Result> {
    return this.sharing.forOne((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (!this.working) this.sharing.forMany(() => void this.workOff());
    });
  }

  private async workOff(): Promise<void> {
    this.working = true;
    await turn(); // what is about to come comes along
    while (this.waiting.length > 0) await this.next(this.waiting.splice(0, this.most));
    this.working = false;
  }

  private async next(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await this.work(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index] as Outcome<Result>;
        if ('result' in outcome) resolve(outcome.result);
        else reject(outcome.error);
      }
    } catch (error) {
      // What has waited behind it fails with it: where storage hangs, nobody waits for two time-outs.
      for (const { reject } of [...batch, ...this.waiting.splice(0)]) reject(error);
    }
  }
}
