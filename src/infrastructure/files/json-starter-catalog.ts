import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { StarterCatalog } from '../../application/workspace/ports.js';
import type { Starter } from '../../domain/workspace/starter.js';

const text = z
  .string()
  .regex(/\S/, 'must not be empty')
  .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must not have characters that no database stores');

const record = z.strictObject({
  id: text,
  group: text,
  input: text,
  expected: text,
  fields: z.record(z.string(), text).default({}),
});

const records = z
  .array(record)
  .min(1)
  .max(500)
  .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'must have different ids');

/** The objects are strict, so that a misspelt field is an error. */
const starterSchema = (id: string) =>
  z.strictObject({
    id: z
      .literal(id, 'must be the name of the file')
      .and(z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be in small letters with hyphens')),
    name: text,
    description: text,
    provenance: z.strictObject({ source: text, author: text, licence: text, date: z.iso.date(), method: text }),
    spec: z.strictObject({
      goal: text,
      task: text,
      acceptance: z.strictObject({ metric: text, threshold: z.number().min(0).max(1) }),
      starter_id: z.literal(id, 'must be the id of the starter'),
      system_prompt: text.optional(),
    }),
    dataset: z.strictObject({ name: text, records }),
  });

/** Serves the starters of a folder. Each starter is a file `<id>.json` that is read once. */
export class JsonStarterCatalog implements StarterCatalog {
  private readonly byId: ReadonlyMap<string, Starter>;

  /** Throws an error that names the file and the field if a file is no valid starter. */
  constructor(folder: string) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const starters = names.map((name) => readStarter(join(folder, name))).sort((a, b) => (a.id < b.id ? -1 : 1));
    this.byId = new Map(starters.map((starter) => [starter.id, starter]));
  }

  async all(): Promise<readonly Starter[]> {
    return [...this.byId.values()];
  }

  async find(id: string): Promise<Starter | null> {
    return this.byId.get(id) ?? null;
  }
}

function readStarter(file: string): Starter {
  try {
    const parsed = starterSchema(basename(file, '.json')).safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return deepFrozen(parsed.data);
    const [issue] = parsed.error.issues;
    throw new Error([...(issue?.path.length ? [issue.path.join('.')] : []), issue?.message].join(': '));
  } catch (error) {
    throw new Error(`The starter in ${file} cannot be used: ${(error as Error).message}`);
  }
}

/** Returns a frozen copy, so that no caller changes the starter that the next caller gets. */
const deepFrozen = <T>(value: T): T => JSON.parse(JSON.stringify(value), (_, part) => Object.freeze(part));
