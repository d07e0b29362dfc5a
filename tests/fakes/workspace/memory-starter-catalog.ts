import type { StarterCatalog } from '../../../src/application/workspace/ports.js';
import type { Starter } from '../../../src/domain/workspace/starter.js';

export class MemoryStarterCatalog implements StarterCatalog {
  private readonly byId: ReadonlyMap<string, Starter>;

  constructor(starters: readonly Starter[]) {
    const sorted = starters.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    this.byId = new Map(sorted.map((starter) => [starter.id, frozenCopy(starter)]));
  }

  async all(): Promise<readonly Starter[]> {
    return [...this.byId.values()];
  }

  async find(id: string): Promise<Starter | null> {
    return this.byId.get(id) ?? null;
  }
}

/** Frozen in all its depth: the parts of a text that is parsed pass by one after another. */
const frozenCopy = <T>(value: T): T => JSON.parse(JSON.stringify(value), (_, part) => Object.freeze(part));
