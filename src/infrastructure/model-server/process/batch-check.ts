import { batchKey, joinRows, rowsOf, splitRows } from './batches.js';
import { close, same } from './closeness.js';
import type { Tensors } from './tensors.js';
import { variations } from './variations.js';

export type BatchVerdict = 'unknown' | 'equal' | 'different';

type Run = (feeds: Tensors) => Promise<Tensors>;

/** Requests that differ. */
const SAMPLES = 3;
/** Enough also where all callers send the same. */
const ENOUGH = 8;
const MOST_FAILURES = 10;

/**
 * Finds out whether the rows of a batch are answered as each is alone: a model whose rows see each other (one that
 * normalises over the batch) must not run the requests of different callers together. The first requests themselves are
 * the samples, since made-up ones could be what the model can't take.
 */
export class BatchCheck {
  verdict: BatchVerdict = 'unknown';
  /** The latest that differ. */
  private samples: Tensors[] = [];
  private distinct = 0;
  private compared = 0;
  private failures = 0;

  constructor(private readonly run: Run) {}

  /** Looks at feeds that the model has answered with `outputs`. */
  async look(feeds: Tensors, outputs: Tensors): Promise<void> {
    if (this.verdict !== 'unknown' || rowsOf(feeds) === 0) return;
    const others = this.others(feeds);
    const isNew = this.samples.every((one) => !fits(one, feeds) || !same(one, feeds));
    if (isNew) this.samples = [feeds, ...this.samples].slice(0, SAMPLES);
    if (others.length === 0) return;
    this.heed(await this.compareAll(feeds, outputs, others), isNew);
    if (this.verdict !== 'unknown') this.samples = [];
  }

  /** Feeds that can run with these and are not the same: an earlier request's, and variations, another first each time. */
  private others(feeds: Tensors): (readonly Tensors[])[] {
    const turn = this.compared % variations.length;
    const turned = [...variations.slice(turn), ...variations.slice(0, turn)];
    const differ = (all: readonly Tensors[]) => all.filter((one) => fits(one, feeds) && !same(one, feeds));
    return [differ(this.samples), differ(turned.map((vary) => vary(feeds)))].filter((some) => some.length > 0);
  }

  private heed(equal: boolean | null, isNew: boolean): void {
    if (equal === null) this.failures++;
    else this.compared++;
    if (equal && isNew) this.distinct++;
    if (equal === false || this.failures === MOST_FAILURES) this.verdict = 'different';
    else if (this.distinct === SAMPLES || this.compared === ENOUGH) this.verdict = 'equal';
  }

  /** With one of each kind: the first that the model takes. Null where it takes none. */
  private async compareAll(feeds: Tensors, outputs: Tensors, kinds: (readonly Tensors[])[]): Promise<boolean | null> {
    let found: boolean | null = null;
    for (const kind of kinds) {
      for (const other of kind) {
        const alone = await this.run(other).catch(() => null);
        if (!alone) continue;
        found = await this.compare([feeds, other], [outputs, alone]);
        if (!found) return false;
        break;
      }
    }
    return found;
  }

  /** In both orders: a model may look at the first row, or at the last. */
  private async compare(pair: Tensors[], alone: Tensors[]): Promise<boolean> {
    return (await this.joinedEqual(pair, alone)) && (await this.joinedEqual([...pair].reverse(), [...alone].reverse()));
  }

  private async joinedEqual(parts: Tensors[], alone: Tensors[]): Promise<boolean> {
    const together = await this.run(joinRows(parts)).catch(() => null);
    const split = together && splitRows(together, parts.map(rowsOf));
    return split?.every((part, at) => close(part, alone[at] as Tensors)) ?? false;
  }
}

const fits = (one: Tensors, other: Tensors): boolean => batchKey(one) === batchKey(other);
