import type { RateLimitKey } from '../../application/operations/ports.js';
import { WINDOW_MS } from './sliding-window.js';

/**
 * Keeps a value for each key, for at least a minute after its last use. If there are more than `maxKeys` of a kind, it
 * drops those that were not used for the longest time. Many unknown addresses do not push out credentials.
 */
export class RecentKeys<Value> {
  private readonly tables: { readonly [Kind in RateLimitKey['kind']]: Table<Value> };

  constructor(
    maxKeys: number,
    private readonly create: (key: RateLimitKey) => Value,
  ) {
    this.tables = { credential: new Table(maxKeys), address: new Table(maxKeys) };
  }

  of(key: RateLimitKey, now: number): Value {
    return this.tables[key.kind].of(key.value, now, () => this.create(key));
  }

  get size(): number {
    return this.tables.credential.size + this.tables.address.size;
  }
}

/** Two generations of keys make each call equally fast, even with many keys. */
class Table<Value> {
  private recent = new Map<string, Value>();
  private earlier = new Map<string, Value>();
  private begun = 0;
  private readonly maxRecent: number;

  constructor(maxKeys: number) {
    this.maxRecent = Math.ceil(maxKeys / 2);
  }

  of(key: string, now: number, create: () => Value): Value {
    if (now - this.begun >= WINDOW_MS) this.turn(now);
    const known = this.recent.get(key);
    if (known) return known;
    const value = this.earlier.get(key) ?? create();
    if (this.recent.size >= this.maxRecent) this.turn(now);
    this.recent.set(key, value);
    return value;
  }

  get size(): number {
    return this.recent.size + this.earlier.size;
  }

  private turn(now: number): void {
    this.earlier = this.recent;
    this.recent = new Map();
    this.begun = now;
  }
}
