import { injectable } from 'inversify';
import { LessThan, Raw } from 'typeorm';
import type { Page, VersionPage } from '../../../application/shared/ports.js';
import type { DatasetRepository, DatasetVersionEntry, InProjectFilter } from '../../../application/workspace/ports.js';
import { recordsBytes } from '../../../domain/shared/storage-quota.js';
import { Dataset, type DatasetRecord, type DatasetVersion } from '../../../domain/workspace/dataset.js';
import { containing } from '../search.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { changesOne, defineTable, newest, plus, type StoredBytes, storedBytes } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

export const DatasetTable = defineTable<Dataset & StoredBytes>('datasets', {
  id: { type: 'text', primary: true },
  projectId: { type: 'text' },
  name: { type: 'text' },
  version: { type: 'integer' },
  state: { type: 'text' },
  recordCount: { type: 'integer' },
  contentSha256: { type: 'text' },
  bytes: { type: 'integer' },
  validation: { type: 'json' },
  forkedFrom: { type: 'json', nullable: true },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  updatedBy: { type: 'text' },
  updatedAt: { type: 'timestamptz' },
  frozenAt: { type: 'timestamptz', nullable: true },
  storedBytes,
});

/** A version. `contentVersion` is the version that stored its records, because a change of the name stores none. */
interface VersionRow extends DatasetVersion {
  readonly contentVersion: number;
}

export const DatasetVersionTable = defineTable<VersionRow>('dataset_versions', {
  datasetId: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  name: { type: 'text' },
  recordCount: { type: 'integer' },
  contentSha256: { type: 'text' },
  bytes: { type: 'integer' },
  validation: { type: 'json' },
  contentVersion: { type: 'integer', select: false },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
});

const LISTED: Readonly<Record<keyof DatasetVersionEntry, true>> = {
  datasetId: true,
  version: true,
  name: true,
  recordCount: true,
  contentSha256: true,
  createdBy: true,
  createdAt: true,
};

interface ContentRow {
  readonly datasetId: string;
  readonly version: number;
  /** The list of records. TypeORM's types cannot follow a recursive type such as JSON. */
  readonly records: object;
  readonly bytes: number;
}

export const DatasetContentTable = defineTable<ContentRow>('dataset_contents', {
  datasetId: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  records: { type: 'json' },
  bytes: { type: 'integer', select: false },
});

@injectable()
export class TypeOrmDatasetRepository implements DatasetRepository {
  private readonly datasets = () => this.unitOfWork.repository(DatasetTable);
  private readonly contents = () => this.unitOfWork.repository(DatasetContentTable);
  private readonly history = () => this.unitOfWork.repository(DatasetVersionTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  add(dataset: Dataset, records: readonly DatasetRecord[]): Promise<void> {
    return notFoundIfMissing('project', () =>
      this.unitOfWork.run(async () => {
        await this.datasets().insert({ ...dataset, storedBytes: recordsBytes(dataset) });
        await this.addContent(dataset, records);
        await this.addVersion(dataset, dataset.version);
      }),
    );
  }

  find(projectId: string, id: string): Promise<Dataset | null> {
    return this.datasets().findOneBy({ projectId, id });
  }

  all({ projectId, q }: InProjectFilter, page: Page): Promise<Dataset[]> {
    const named = q !== undefined && { name: Raw((name) => `${name} ~ :name`, { name: containing(q) }) };
    return this.datasets().find(newest<Dataset & StoredBytes>({ projectId, ...named }, page));
  }

  async records(datasetId: string, version: number): Promise<readonly DatasetRecord[] | null> {
    const ofVersion = 'version.datasetId = content.datasetId AND version.contentVersion = content.version';
    const content = await this.contents()
      .createQueryBuilder('content')
      .innerJoin(DatasetVersionTable.options.name, 'version', ofVersion)
      .where('version.datasetId = :datasetId AND version.version = :version', { datasetId, version })
      .getOne();
    return content && (content.records as readonly DatasetRecord[]);
  }

  replace({ id, version, state }: Dataset, next: Dataset, records: readonly DatasetRecord[] | null): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      const change = { ...next, ...(records && { storedBytes: plus(recordsBytes(next)) }) };
      if (!(await changesOne(this.datasets().update({ id, version, state }, change)))) return false;
      if (records) await this.addContent(next, records);
      if (next.version !== version)
        await this.addVersion(next, records ? next.version : await this.contentVersion(id, version));
      return true;
    });
  }

  remove({ id, version }: Dataset): Promise<boolean> {
    return changesOne(this.datasets().delete({ id, version, state: 'editable' }));
  }

  versions(datasetId: string, page: VersionPage): Promise<DatasetVersionEntry[]> {
    return this.history().find({ select: LISTED, ...newest<VersionRow>({ datasetId }, page, 'version') });
  }

  version(datasetId: string, version: number): Promise<DatasetVersion | null> {
    return this.history().findOneBy({ datasetId, version });
  }

  prune(datasetId: string, oldest: number): Promise<void> {
    return this.unitOfWork.run(async () => {
      await this.history().delete({ datasetId, version: LessThan(oldest) });
      // Version `oldest` may be missing, because an earlier setting may have kept fewer versions.
      const select = { datasetId: true, version: true, contentVersion: true } as const;
      const kept = await this.history().findOneOrFail({ select, where: { datasetId }, order: { version: 'ASC' } });
      const removal = this.contents().createQueryBuilder().delete();
      const { raw } = await removal
        .where({ datasetId, version: LessThan(kept.contentVersion) })
        .returning('bytes')
        .execute();
      const freed = raw.map(recordsBytes).reduce((sum: number, bytes: number) => sum + bytes, 0);
      if (freed > 0) await this.datasets().update({ id: datasetId }, { storedBytes: plus(-freed) });
    });
  }

  private async addContent({ id, version, bytes }: Dataset, records: readonly DatasetRecord[]): Promise<void> {
    await this.contents().insert({ datasetId: id, version, records, bytes });
  }

  private async addVersion(dataset: Dataset, contentVersion: number): Promise<void> {
    await this.history().insert({ ...Dataset.versionOf(dataset), contentVersion });
  }

  private async contentVersion(datasetId: string, version: number): Promise<number> {
    const select = { datasetId: true, version: true, contentVersion: true } as const;
    return (await this.history().findOneOrFail({ select, where: { datasetId, version } })).contentVersion;
  }
}
