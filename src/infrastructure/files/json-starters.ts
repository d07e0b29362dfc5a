import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starters } from '../../application/workspace/ports/starters.js';
import type { Starter } from '../../domain/workspace/starter.js';
import { MemoryStarters } from '../memory/workspace/memory-starters.js';
import { parseStarter } from './starter-file.js';

/** The starters of a folder, each a file `<id>.json`, read once. Throws a line that names the file and the field. */
export class JsonStarters extends MemoryStarters implements Starters {
  constructor(folder: string) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    super(names.map((name) => read(folder, name)));
  }
}

function read(folder: string, name: string): Starter {
  const file = join(folder, name);
  try {
    return parseStarter(name.replace(/\.json$/, ''), readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`The starter in ${file} cannot be used: ${(error as Error).message}`);
  }
}
