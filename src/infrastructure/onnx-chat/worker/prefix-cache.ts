/**
 * Keeps the KV caches of earlier sequences. If a later sequence of the same caller begins with the same tokens, the
 * model does not read these tokens again. The least recently used entry is dropped first.
 */
import type { Past } from './kv-cache.js';

/** Tokens, and the past of all of them or only of the first ones. */
export interface CachedTokens {
  /** Only this caller may use the entry: the time to the first token would show others which prompts were sent. */
  readonly caller: string;
  readonly tokens: readonly number[];
  readonly past: Past;
}

/** Limits the time of a search. Very many entries of a small model would fit into the memory. */
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
   * Returns the caller's longest past that matches the beginning of `tokens`, or null. Searches the entries and
   * `others`. The past never covers all tokens, because the model must read the last token to score the next.
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

  /** Adds the past of exactly these tokens. Drops entries of the same caller that are a prefix of the tokens. */
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
