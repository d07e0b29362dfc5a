import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The checkout. Its place depends on whether this file is compiled, too. */
const ROOT = join(__dirname, __filename.endsWith('.ts') ? '../..' : '../../..');

export interface OtherRelease {
  readonly number: number;
  readonly version: string;
  /** Migrations that the release adds: a name in small letters, and SQL. */
  readonly migrations: Readonly<Record<string, string>>;
}

/** Adds a column with a default and one without, and an index, to each table, and makes all functions anew. */
export const ADDITIONS = `
  DO $do$
  DECLARE
    one text;
  BEGIN
    FOR one IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND relname NOT IN ('migrations', 'migration_releases') ORDER BY 1 LOOP
      EXECUTE format('ALTER TABLE %I ADD COLUMN later text, ADD COLUMN later_count integer NOT NULL DEFAULT 7', one);
      EXECUTE format('CREATE INDEX ON %I (later)', one);
    END LOOP;
    FOR one IN SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' LOOP
      EXECUTE one;
    END LOOP;
    CREATE TABLE later_things (id text PRIMARY KEY);
  END $do$`;

/**
 * Copies the compiled program into an empty folder, as another release with more migrations. Returns the file to run.
 * The copy uses the packages, models and starters of the checkout.
 */
export function copyAsRelease(folder: string, { number, version, migrations }: OtherRelease): string {
  for (const name of ['node_modules', 'models', 'starters']) symlinkSync(join(ROOT, name), join(folder, name));
  const source = (name: string) => join(ROOT, 'dist', name);
  cpSync(source('console'), join(folder, 'dist/console'), { recursive: true });
  cpSync(source('src'), join(folder, 'dist/src'), { recursive: true, filter: (name) => !name.endsWith('.map') });
  const packageJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...packageJson, version }));

  const storage = join(folder, 'dist/src/infrastructure/typeorm');
  const releases = join(storage, 'releases.js');
  const program = readFileSync(releases, 'utf8');
  const changed = program.replace(
    /exports\.RELEASE = \{[^}]*\}/,
    `exports.RELEASE = ${JSON.stringify({ number, version })}`,
  );
  if (changed === program) throw new Error(`${releases} has no release`);
  writeFileSync(releases, changed);
  for (const [at, [name, sql]] of Object.entries(migrations).entries()) {
    const timestamp = 9_000_000_000_000 + at;
    writeFileSync(join(storage, 'migrations', `${timestamp}-${name}.js`), migrationFile(`${name}${timestamp}`, sql));
  }
  return join(folder, 'dist/src/main.js');
}

const migrationFile = (name: string, sql: string): string => `
const { ForwardMigration } = require('../forward-migration.js');
exports.${name} = class ${name} extends ForwardMigration {
  name = ${JSON.stringify(name)};
  up(runner) { return runner.query(${JSON.stringify(sql)}); }
};`;
