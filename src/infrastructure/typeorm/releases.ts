import type { DataSource, QueryRunner } from 'typeorm';
import { InstanceOutdated } from '../../domain/shared/errors.js';
import { isMissingTable } from './storage-errors.js';

/**
 * The release of this program. The number grows by one with each release, and by two if programs of the release before
 * cannot work with the tables of this one. `version` is that of package.json.
 */
export const RELEASE = { number: 2, version: '0.1.0' } as const;

/** The release before this one, with its commit and its last migration. Its programs work with the tables of this one. */
export const LAST_RELEASE = {
  number: 1,
  commit: '03057a3b7ed752b33226e667f04bc6133d543c39',
  lastMigration: 'CheaperHolds1766707200000',
} as const;

/** A program works with tables that are at most so many releases newer. */
const NEWER_RELEASES = 1;

interface Mark {
  /** The name of a migration. */
  readonly name: string;
  readonly release: number;
  readonly version: string;
}

/**
 * Holds the release of the program that ran a migration. An older program has no code that would tell it. Like the table
 * `migrations`, this table is made outside of the migrations, because it must be there before them.
 */
const TABLE = `
  CREATE TABLE IF NOT EXISTS migration_releases (
    name text COLLATE "C" PRIMARY KEY,
    release integer NOT NULL,
    version text NOT NULL
  )`;

export const addReleaseMarks = (runner: QueryRunner): Promise<unknown> => runner.query(TABLE);

/** Marks these migrations as run by this release. Keeps earlier marks. */
export const markRelease = (runner: QueryRunner, names: readonly string[]): Promise<unknown> =>
  runner.query(
    `INSERT INTO migration_releases SELECT name, $2, $3 FROM unnest($1::text[]) AS name ON CONFLICT DO NOTHING`,
    [names, RELEASE.number, RELEASE.version],
  );

/**
 * Throws InstanceOutdated unless this program works with tables that have these migrations, which it does not know. It
 * works with those of the next release, as CONTRIBUTING.md says. Migrations without a mark are of an unknown release.
 */
export async function requireWorksWith(source: DataSource, unknown: readonly string[]): Promise<void> {
  if (unknown.length === 0) return;
  const marks = (await marksIn(source)).filter(({ name }) => unknown.includes(name));
  const unmarked = unknown.filter((name) => !marks.some((mark) => mark.name === name));
  if (unmarked.length > 0) throw new InstanceOutdated(`It has the steps ${unmarked.join(', ')}.`);
  const [newest] = marks.sort((one, other) => other.release - one.release);
  if (newest && newest.release > RELEASE.number + NEWER_RELEASES) {
    const { number, version } = RELEASE;
    throw new InstanceOutdated(
      `It is of release ${newest.release} (${newest.version}). This program is release ${number} (${version}), and ` +
        `works with the tables of release ${number + NEWER_RELEASES} at most.`,
    );
  }
}

/** Returns the number of the release that ran the newest of the migrations, or 0 if it is older than the last release. */
export async function releaseOf(source: DataSource, done: readonly string[]): Promise<number> {
  const marks = (await marksIn(source)).filter(({ name }) => done.includes(name));
  const unmarked = done.includes(LAST_RELEASE.lastMigration) ? LAST_RELEASE.number : 0;
  return Math.max(unmarked, ...marks.map(({ release }) => release));
}

async function marksIn(source: DataSource): Promise<Mark[]> {
  const rows = source.createQueryBuilder().select('*').from('migration_releases', 'mark').getRawMany<Mark>();
  return rows.catch((error: unknown) => {
    if (isMissingTable(error)) return [];
    throw error;
  });
}
