import { createHash } from 'node:crypto';
import type { DatasetRecord } from '../../src/domain/workspace/dataset-record.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { canonicalText } from './datasets.js';

/** The migration that makes a row of each record. */
export const RECORDS_MIGRATION = 'DatasetRecords1766534400000';

type RunSql = (sql: string, values?: unknown[]) => Promise<unknown>;

/** The contents of each version of a dataset. A version that is null has the content of the version before. */
export type History = readonly (readonly DatasetRecord[] | null)[];

const VALID = JSON.stringify({ valid: true, count: 0, findings: [] });

export const digestOf = (records: readonly DatasetRecord[]): string =>
  createHash('sha256').update(canonicalText(records)).digest('hex');

const lengthOf = (records: readonly DatasetRecord[]) => Buffer.byteLength(canonicalText(records));

const ACCOUNT = 'usr_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

/** Returns records of a version of a dataset: none to 119. Each version has another record than the others. */
export const oldRecords = (dataset: number, version: number): DatasetRecord[] =>
  Array.from({ length: (dataset * 7) % 120 }, (_, n) => ({
    id: `r${n}`,
    group: n % 2 ? 'odd' : null,
    input: { z: `Question ${n}`, a: [dataset, 'é🦆'] },
    expected: `${n}`,
    fields: n === version ? { version } : ({} as JsonObject),
  }));

/** Returns the records of each version. */
export function contentsOf(history: History): (readonly DatasetRecord[])[] {
  let content: readonly DatasetRecord[] = [];
  return history.map((own) => {
    content = own ?? content;
    return content;
  });
}

/** Stores a project with its team and an account. */
export async function addOldProject(run: RunSql, { team, project }: { team: string; project: string }): Promise<void> {
  await run(`
    INSERT INTO teams (id, operator, created_at) VALUES ('${team}', false, now());
    INSERT INTO accounts (id, team_id, name, email, email_key, role, created_at)
      VALUES ('${ACCOUNT}', '${team}', 'Old', 'old@example.com', 'old@example.com', 'admin', now());
    INSERT INTO projects (id, team_id, name, version, spec, created_by, created_at, updated_at, updated_by)
      VALUES ('${project}', '${team}', 'P', 1, '{}', '${ACCOUNT}', now(), now(), '${ACCOUNT}')`);
}

/** Stores a dataset with all its versions as the release before the migration does. */
export async function addOldDataset(
  run: RunSql,
  { id, project, history }: { id: string; project: string; history: History },
): Promise<void> {
  const contents = contentsOf(history);
  const last = contents.at(-1) ?? [];
  const summary = (all: readonly DatasetRecord[]) => [all.length, digestOf(all), lengthOf(all), VALID];
  const stored = history.reduce((sum, own) => sum + (own ? lengthOf(own) + 200 : 0), 0);
  await run(
    `INSERT INTO datasets (id, version, record_count, content_sha256, bytes, validation, stored_bytes, project_id, name,
       state, created_by, created_at, updated_by, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'D', 'editable', '${ACCOUNT}', now(), '${ACCOUNT}', now())`,
    [id, history.length, ...summary(last), stored, project],
  );
  let contentVersion = 0;
  for (const [index, all] of contents.entries()) {
    const version = index + 1;
    if (history[index]) contentVersion = version;
    await run(
      `INSERT INTO dataset_versions (dataset_id, version, record_count, content_sha256, bytes, validation, content_version,
         name, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, 'D', '${ACCOUNT}', now())`,
      [id, version, ...summary(all), contentVersion],
    );
    if (contentVersion === version)
      await run('INSERT INTO dataset_contents (dataset_id, version, records, bytes) VALUES ($1, $2, $3, $4)', [
        ...[id, version, JSON.stringify(all), lengthOf(all)],
      ]);
  }
}
