/**
 * Keeps the KV caches of earlier sequences. A later sequence of the same caller that begins with the same tokens need not
 * read them again. The least recently used are forgotten first.
 */
import type { Past } from './kv-cache.js';

/** Tokens, and the past of some or all of them from the first on. */
export interface CachedTokens {
  /** Only this caller may use them: the time to the first token would tell others what was asked. */
  readonly caller: string;
  readonly tokens: readonly number[];
  readonly past: Past;
}

/** Bounds the time of a search if the model is so small that very many entries would fit. */
const MAX_ENTRIES = 1_000;

export interface PrefixCacheSettings {
  readonly maxBytes: number;
  readonly bytesPerToken: number;
  readonly compact: (past: Past) => Past;
}

export class PrefixCache {
  /** The most recently used entry is the last. */
  private readonly entries = new Set<CachedTokens>();
  private bytes = 0;

  constructor(private readonly settings: PrefixCacheSettings) {}

  /**
   * Returns the longest past that fits the beginning of `tokens`, from the entries of the caller and the caller's `others`.
   * It never covers all tokens, because the model must read the last one to score the next.
   */
  find({ caller, tokens }: Omit<CachedTokens, 'past'>, others: Iterable<CachedTokens>): Past | null {
    let best: CachedTokens | null = null;
    let length = 0;
    for (const entry of [...this.entries, ...others]) {
      if (entry.caller !== caller) continue;
      const common = Math.min(commonLength(entry.tokens, tokens), entry.past.length, tokens.length - 1);
      if (common <= length) continue;
      best = entry;
      length = common;
    }
    if (!best) return null;
    if (this.entries.delete(best)) this.entries.add(best);
    return { ...best.past, length };
  }

  /** Adds the past of exactly these tokens. Replaces entries that are a beginning of it. */
  add({ caller, tokens, past }: CachedTokens): void {
    if (this.bytesOf(tokens) > this.settings.maxBytes) return;
    for (const entry of this.entries) {
      if (entry.caller !== caller) continue;
      const common = commonLength(entry.tokens, tokens);
      if (common === tokens.length) {
        this.entries.delete(entry);
        this.entries.add(entry);
        return;
      }
      if (common === entry.tokens.length) this.forget(entry);
    }
    this.entries.add({ caller, tokens, past: this.settings.compact(past) });
    this.bytes += this.bytesOf(tokens);
    for (const oldest of this.entries) {
      if (this.bytes <= this.settings.maxBytes && this.entries.size <= MAX_ENTRIES) return;
      this.forget(oldest);
    }
  }

  private forget(entry: CachedTokens): void {
    this.entries.delete(entry);
    this.bytes -= this.bytesOf(entry.tokens);
  }

  private bytesOf(tokens: readonly number[]): number {
    return tokens.length * this.settings.bytesPerToken;
  }
}

function commonLength(some: readonly number[], others: readonly number[]): number {
  const most = Math.min(some.length, others.length);
  for (let i = 0; i < most; i++) if (some[i] !== others[i]) return i;
  return most;
}
