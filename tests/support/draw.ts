import type { Json, JsonObject } from '../../src/domain/workspace/json.js';

/** Draws from a fixed sequence of random numbers. */
export class Draw {
  constructor(private state: number) {}

  below(end: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * end);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  json(levels = 3): Json {
    const leaves = [null, true, 0, -1.5, 7e20, '', 'é😀\u2028', 'text'];
    if (levels === 0 || this.below(3) > 0) return this.oneOf<Json>(leaves);
    const items = Array.from({ length: this.below(4) }, () => this.json(levels - 1));
    return this.below(2) ? items : Object.fromEntries(items.map((item, i) => [`x${i}`, item]));
  }

  /** Adds some of the fields, and one that nobody knows. */
  fields(names: readonly string[]): JsonObject {
    const some = names.filter(() => this.below(4) === 0);
    return Object.fromEntries([...some, 'x_own'].map((name) => [name, this.json()]));
  }
}
