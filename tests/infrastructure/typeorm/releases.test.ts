import { migrationNames } from '../../../src/infrastructure/typeorm/data-source.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { LAST_RELEASE } from '../../../src/infrastructure/typeorm/releases.js';
import { freshDatabase, query } from '../../support/database.js';
import { databaseThrough } from '../../support/database-before.js';
import { ADDITIONS } from '../../support/other-release.js';

/** The parts of a table that programs of the last release depend on, each with what must not change about it. */
const PARTS = `
  SELECT format('the column %s.%s', a.attrelid::regclass, a.attname) AS name,
         format_type(a.atttypid, a.atttypmod) AS form,
         a.attnotnull AS strict,
         NOT (a.atthasdef OR a.attidentity <> '') AS bare,
         a.attrelid::regclass::text AS "table"
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
   UNION ALL
  SELECT format('the function %s', oid::regprocedure),
         concat_ws(' ', pg_get_function_arguments(oid), 'returns', pg_get_function_result(oid)), false, false, NULL
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
   UNION ALL
  SELECT format('the sequence %s', oid::regclass), '', false, false, NULL
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'
   UNION ALL
  SELECT format('the constraint %s of %s', conname, conrelid::regclass), pg_get_constraintdef(oid), true, false,
         conrelid::regclass::text
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0 AND contype <> 'n'
   UNION ALL
  SELECT format('the unique index %s', indexrelid::regclass), pg_get_indexdef(indexrelid), true, false, indrelid::regclass::text
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
   WHERE c.relnamespace = 'public'::regnamespace AND indisunique
     AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
   UNION ALL
  SELECT format('the trigger %s of %s', tgname, tgrelid::regclass), pg_get_triggerdef(t.oid), true, false, tgrelid::regclass::text
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
   WHERE c.relnamespace = 'public'::regnamespace AND NOT tgisinternal`;

interface Part {
  readonly name: string;
  readonly form: string;
  /** It can refuse rows. */
  readonly strict: boolean;
  /** It is a column without a default. */
  readonly bare: boolean;
  readonly table: string | null;
}

const partsOf = (url: string) => query<Part>(url, PARTS);

/** Returns what programs that know the parts of `before` could not bear. */
function harms(before: readonly Part[], after: readonly Part[]): string[] {
  const found: string[] = [];
  const isGuard = ({ name }: Part) => /^the (constraint|unique index|trigger) /.test(name);
  for (const old of before) {
    const now = after.find(({ name }) => name === old.name);
    if (!now) {
      if (!isGuard(old)) found.push(`${old.name} is gone`);
    } else if (now.form !== old.form) found.push(`${old.name} is ${now.form}, and was ${old.form}`);
    else if (now.strict && !old.strict) found.push(`${old.name} is NOT NULL`);
    else if (now.bare && !old.bare && now.strict) found.push(`${old.name} has no default any more`);
  }
  const tables = new Set(before.map(({ table }) => table));
  for (const added of after) {
    const isOld = before.some(({ name }) => name === added.name);
    if (isOld || added.table === null || !tables.has(added.table)) continue;
    if (isGuard(added)) found.push(`${added.name} is new: ${added.form}`);
    else if (added.strict && added.bare) found.push(`${added.name} is NOT NULL and has no default`);
  }
  return found;
}

describe('the tables of this release', () => {
  it('leave programs of the last release what they need', async () => {
    const database = await databaseThrough(LAST_RELEASE.lastMigration);
    const before = await partsOf(database.url);
    expect(await migrate(database.url)).toEqual(
      migrationNames.slice(migrationNames.indexOf(LAST_RELEASE.lastMigration) + 1),
    );
    expect(harms(before, await partsOf(database.url))).toEqual([]);
    await database.drop();
  });

  it.each([
    ['ALTER TABLE projects DROP COLUMN spec', ['the column projects.spec is gone']],
    [
      'ALTER TABLE projects RENAME COLUMN spec TO content',
      ['the column projects.spec is gone', 'the column projects.content is NOT NULL and has no default'],
    ],
    ['ALTER TABLE invites RENAME TO invitations', [expect.stringMatching(/^the column invites\..* is gone$/)]],
    ['ALTER TABLE projects ALTER COLUMN spec TYPE jsonb', ['the column projects.spec is jsonb, and was json']],
    ['ALTER TABLE jobs ALTER COLUMN project_id SET NOT NULL', ['the column jobs.project_id is NOT NULL']],
    ['ALTER TABLE teams ADD COLUMN a integer NOT NULL', ['the column teams.a is NOT NULL and has no default']],
    [
      'ALTER TABLE teams ADD CHECK (id > $$$$)',
      [expect.stringMatching(/^the constraint teams_id_check of teams is new: CHECK/)],
    ],
    ['CREATE UNIQUE INDEX one ON teams (created_at)', [expect.stringMatching(/^the unique index one is new/)]],
    ['DROP FUNCTION take_holds', [expect.stringMatching(/^the function take_holds.* is gone$/)]],
  ])('would not with %s', async (sql, found) => {
    const database = await freshDatabase();
    const before = await partsOf(database.url);
    await query(database.url, sql);
    expect(harms(before, await partsOf(database.url))).toEqual(expect.arrayContaining(found));
    await database.drop();
  });

  it('would with columns that have defaults, with indexes and with new tables', async () => {
    const database = await freshDatabase();
    const before = await partsOf(database.url);
    await query(database.url, ADDITIONS);
    expect(harms(before, await partsOf(database.url))).toEqual([]);
    await database.drop();
  });
});
