import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StarterCatalog } from '../../application/workspace/ports.js';
import type { Starter } from '../../domain/workspace/starter.js';
import { parseStarter } from './starter-file.js';

/** Serves the starters of a folder, each a file `<id>.json`, read once. */
export class JsonStarters implements StarterCatalog {
  private readonly byId: ReadonlyMap<string, Starter>;

  /** Throws an error that names the file and the field when a file is no valid starter. */
  constructor(folder: string) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const starters = names.map((name) => read(folder, name)).sort((a, b) => (a.id < b.id ? -1 : 1));
    this.byId = new Map(starters.map((starter) => [starter.id, starter]));
  }

  async all(): Promise<readonly Starter[]> {
    return [...this.byId.values()];
  }

  async find(id: string): Promise<Starter | null> {
    return this.byId.get(id) ?? null;
  }
}

function read(folder: string, name: string): Starter {
  const file = join(folder, name);
  try {
    return deepFrozen(parseStarter(name.replace(/\.json$/, ''), readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(`The starter in ${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Freezes a copy, so that no caller changes what the next one gets. */
const deepFrozen = <T>(value: T): T => JSON.parse(JSON.stringify(value), (_, part) => Object.freeze(part));
