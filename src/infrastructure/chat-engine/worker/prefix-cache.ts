import type { Past } from './kv-cache.js';

/** Tokens, and what the model keeps of a beginning of them. */
export interface Known {
  /** For whom they were read. */
  readonly caller: string;
  readonly tokens: readonly number[];
  readonly past: Past;
}

/** Bounds the search, where the model is so small that very many would weigh little. */
const MOST = 1_000;

export interface PrefixCacheSettings {
  /** What all that is kept may weigh. */
  readonly bytes: number;
  readonly bytesPerToken: number;
  readonly alone: (past: Past) => Past;
}

/**
 * What earlier sequences have left behind, so that another one of the same caller that begins alike need not be read from
 * its beginning. The least recently used go first.
 */
export class PrefixCache {
  /** The most recently used comes last. */
  private readonly kept = new Set<Known>();
  private weight = 0;

  constructor(private readonly settings: PrefixCacheSettings) {}

  /**
   * The longest past that fits the beginning of `tokens`, among what is kept for the caller and the caller's `others`;
   * never that of all of them, since the model has to be asked what comes after the last.
   */
  find({ caller, tokens }: Omit<Known, 'past'>, others: Iterable<Known>): Past | null {
    let best: Known | null = null;
    let length = 0;
    for (const known of [...this.kept, ...others]) {
      if (known.caller !== caller) continue;
      const common = Math.min(commonLength(known.tokens, tokens), known.past.length, tokens.length - 1);
      if (common <= length) continue;
      best = known;
      length = common;
    }
    if (!best) return null;
    if (this.kept.delete(best)) this.kept.add(best);
    return { ...best.past, length };
  }

  /** Keeps a past of exactly these tokens. */
  keep({ caller, tokens, past }: Known): void {
    if (this.weightOf(tokens) > this.settings.bytes) return;
    for (const known of this.kept) {
      if (known.caller !== caller) continue;
      const common = commonLength(known.tokens, tokens);
      if (common === tokens.length) {
        this.kept.delete(known);
        this.kept.add(known);
        return;
      }
      if (common === known.tokens.length) this.forget(known);
    }
    this.kept.add({ caller, tokens, past: this.settings.alone(past) });
    this.weight += this.weightOf(tokens);
    for (const oldest of this.kept) {
      if (this.weight <= this.settings.bytes && this.kept.size <= MOST) return;
      this.forget(oldest);
    }
  }

  private forget(known: Known): void {
    this.kept.delete(known);
    this.weight -= this.weightOf(known.tokens);
  }

  private weightOf(tokens: readonly number[]): number {
    return tokens.length * this.settings.bytesPerToken;
  }
}

function commonLength(some: readonly number[], others: readonly number[]): number {
  const most = Math.min(some.length, others.length);
  for (let i = 0; i < most; i++) if (some[i] !== others[i]) return i;
  return most;
}
