import { setImmediate } from 'node:timers/promises';
import { injectable } from 'inversify';
import { EntitySchema, LessThan } from 'typeorm';
import type { DatasetRepository, DatasetVersionEntry } from '../../../application/workspace/ports.js';
import { NotFound } from '../../../domain/shared/errors.js';
import type { Dataset, DatasetVersion } from '../../../domain/workspace/dataset.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import { isForeignKeyViolation } from '../storage-errors.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const DatasetTable = new EntitySchema<Dataset>({
  name: 'Dataset',
  tableName: 'datasets',
  columns: {
    id: { type: 'text', primary: true },
    projectId: { type: 'text', name: 'project_id' },
    name: { type: 'text' },
    version: { type: 'integer' },
    state: { type: 'text' },
    recordCount: { type: 'integer', name: 'record_count' },
    contentSha256: { type: 'text', name: 'content_sha256' },
    validation: { type: 'json' },
    forkedFrom: { type: 'json', name: 'forked_from', nullable: true },
    createdBy: { type: 'text', name: 'created_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    updatedBy: { type: 'text', name: 'updated_by' },
    updatedAt: { type: 'timestamptz', name: 'updated_at' },
    frozenAt: { type: 'timestamptz', name: 'frozen_at', nullable: true },
  },
});

/** Without `content_version`, the version that brought the records, which only the statements below know of. */
export const DatasetVersionTable = new EntitySchema<DatasetVersion>({
  name: 'DatasetVersion',
  tableName: 'dataset_versions',
  columns: {
    datasetId: { type: 'text', name: 'dataset_id', primary: true },
    version: { type: 'integer', primary: true },
    name: { type: 'text' },
    recordCount: { type: 'integer', name: 'record_count' },
    contentSha256: { type: 'text', name: 'content_sha256' },
    validation: { type: 'json' },
    createdBy: { type: 'text', name: 'created_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
  },
});

const ENTRY = {
  datasetId: true,
  version: true,
  name: true,
  recordCount: true,
  contentSha256: true,
  createdBy: true,
  createdAt: true,
} as const;

/** One statement each, so that a dataset is never without its history, nor a version without its records. */
const keepVersion = (contentVersion: string) => `
  INSERT INTO dataset_versions
    (dataset_id, version, name, record_count, content_sha256, validation, content_version, created_by, created_at)
  SELECT id, version, name, record_count, content_sha256, validation, ${contentVersion}, updated_by, updated_at`;
const ADD = `
  WITH written AS (
    INSERT INTO datasets (id, project_id, name, version, state, record_count, content_sha256, validation, forked_from,
      created_by, created_at, updated_by, updated_at, frozen_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING *
  ), content AS (
    INSERT INTO dataset_contents (dataset_id, version, records) SELECT id, version, $15::json FROM written
  ) ${keepVersion('version')} FROM written`;
const REPLACE = `
  WITH written AS (
    UPDATE datasets SET name = $4, version = $5, state = $6, record_count = $7, content_sha256 = $8, validation = $9,
      updated_by = $10, updated_at = $11, frozen_at = $12
    WHERE id = $1 AND version = $2 AND state = $3 RETURNING *
  ), content AS (
    INSERT INTO dataset_contents (dataset_id, version, records)
    SELECT id, version, $13::text::json FROM written WHERE $13::text IS NOT NULL
  ), history AS (${keepVersion(`
      CASE WHEN $13::text IS NOT NULL THEN version
           ELSE (SELECT content_version FROM dataset_versions WHERE dataset_id = $1 AND version = $2) END`)}
    FROM written WHERE version <> $2
  ) SELECT id FROM written`;
const RECORDS = `
  SELECT c.records::text AS records
    FROM dataset_versions v JOIN dataset_contents c ON c.dataset_id = v.dataset_id AND c.version = v.content_version
   WHERE v.dataset_id = $1 AND v.version = $2`;

/** The records may be megabytes: between the steps that each take them whole, other work gets its turn. */
@injectable()
export class TypeOrmDatasetRepository implements DatasetRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void> {
    const { id, projectId, name, version, state, recordCount, contentSha256 } = dataset;
    const { forkedFrom, createdBy, createdAt, updatedBy, updatedAt, frozenAt } = dataset;
    const validation = JSON.stringify(dataset.validation);
    const content = await this.text(records);
    const values = [id, projectId, name, version, state, recordCount, contentSha256, validation];
    const origin = [forkedFrom && JSON.stringify(forkedFrom), createdBy, createdAt, updatedBy, updatedAt, frozenAt];
    try {
      await this.unitOfWork.prepared('add dataset', ADD, [...values, ...origin, content]);
    } catch (error) {
      throw isForeignKeyViolation(error) ? new NotFound('project') : error;
    }
  }

  find(projectId: string, id: string): Promise<Dataset | null> {
    return this.table.findOneBy({ projectId, id });
  }

  all(projectId: string, { limit, after }: Parameters<DatasetRepository['all']>[1]): Promise<Dataset[]> {
    const where = { projectId, ...(after !== null && { id: LessThan(after) }) };
    return this.table.find({ where, order: { id: 'DESC' }, take: limit });
  }

  async records(id: string, version: number): Promise<readonly DatasetRecord[] | null> {
    const [row] = await this.unitOfWork.prepared<{ records: string }>('dataset records', RECORDS, [id, version]);
    if (!row) return null;
    await setImmediate();
    const records = JSON.parse(row.records) as DatasetRecord[];
    await setImmediate();
    return records;
  }

  async replace(current: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean> {
    const { name, version, state, recordCount, contentSha256, updatedBy, updatedAt, frozenAt } = next;
    const guard = [current.id, current.version, current.state];
    const change = [name, version, state, recordCount, contentSha256, JSON.stringify(next.validation)];
    const content = records && (await this.text(records));
    const values = [...guard, ...change, updatedBy, updatedAt, frozenAt, content];
    return (await this.unitOfWork.prepared('replace dataset', REPLACE, values)).length === 1;
  }

  versions(
    datasetId: string,
    { limit, before }: Parameters<DatasetRepository['versions']>[1],
  ): Promise<DatasetVersionEntry[]> {
    const where = { datasetId, ...(before !== null && { version: LessThan(before) }) };
    return this.history.find({ select: ENTRY, where, order: { version: 'DESC' }, take: limit });
  }

  version(datasetId: string, version: number): Promise<DatasetVersion | null> {
    return this.history.findOneBy({ datasetId, version });
  }

  async remove({ id, version }: Dataset): Promise<boolean> {
    const { affected } = await this.table.delete({ id, version, state: 'editable' });
    return affected === 1;
  }

  private async text(records: readonly DatasetRecord[]): Promise<string> {
    const text = JSON.stringify(records);
    await setImmediate();
    return text;
  }

  private get table() {
    return this.unitOfWork.table(DatasetTable);
  }

  private get history() {
    return this.unitOfWork.table(DatasetVersionTable);
  }
}
