import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ModelFile } from '../../domain/deployments/model-file.js';

const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, 'is no name');
const Columns = z.array(Name).min(1).readonly();

const Header = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('backup'),
    tenon: z.string(),
    created_at: z.string(),
    /** False if the secret is a setting. Then the backup does not contain it. */
    secret: z.boolean(),
  }),
  z.object({ kind: z.literal('secret') }),
  /** Names the migrations that made the tables. */
  z.object({ kind: z.literal('database'), migrations: z.array(z.string()).min(1).readonly() }),
  /** The rows of a table in the format of COPY. A table comes after all tables that it refers to. */
  z.object({ kind: z.literal('table'), name: Name, columns: Columns }),
  z.object({ kind: z.literal('sequence'), name: Name, value: z.string().regex(/^\d{1,19}$/, 'is no number') }),
  /** Tasks of the work queue, in the format of COPY. */
  z.object({ kind: z.literal('tasks'), columns: Columns.optional() }),
  /** The data. Empty unless `included` is true. */
  z.object({
    kind: z.literal('model_file'),
    path: z.string().refine(ModelFile.isPath, 'is no path of a model file'),
    size: z.int().nonnegative(),
    sha256: z.string().regex(/^[0-9a-f]{64}$/, 'is no SHA-256'),
    included: z.boolean(),
  }),
]);

export type SectionHeader = z.infer<typeof Header>;

/** Checks the sections of a backup in their order, before anything of the backup is restored. */
export class CheckedSections {
  private readonly kinds: SectionHeader['kind'][] = [];

  /** Returns what is wrong with a section, or null. */
  async problemOf(header: unknown, chunks: AsyncIterable<Uint8Array>): Promise<string | null> {
    const place = `section ${this.kinds.length + 1}`;
    const { success, data, error } = Header.safeParse(header);
    if (!success) {
      const [{ path, message } = { path: [], message: '' }] = error.issues;
      return `${place} is not as a backup has it: ${[path.join('.'), message].filter(Boolean).join(': ')}`;
    }
    const wrong = this.wrongPlace(data.kind);
    this.kinds.push(data.kind);
    if (wrong) return `${place} (${data.kind}) ${wrong}`;
    if (data.kind !== 'model_file' || !data.included) return null;
    const hash = createHash('sha256');
    for await (const chunk of chunks) hash.update(chunk);
    return hash.digest('hex') === data.sha256 ? null : `the model file ${data.path} does not match its checksum`;
  }

  /** Returns what the backup lacks after its last section, or null. */
  missing(): string | null {
    return this.kinds.includes('database') ? null : 'it does not say what its tables are';
  }

  private wrongPlace(kind: SectionHeader['kind']): string | null {
    const isFirst = this.kinds.length === 0;
    if (isFirst !== (kind === 'backup')) return isFirst ? 'must not be the first' : 'must be the first';
    if (['secret', 'database', 'tasks'].includes(kind) && this.kinds.includes(kind)) return 'is there twice';
    const ofDatabase = ['table', 'sequence', 'tasks'].includes(kind);
    return ofDatabase && !this.kinds.includes('database') ? 'comes before the database' : null;
  }
}
