import { injectable } from 'inversify';
import { IsNull, Raw } from 'typeorm';
import type { Page, VersionPage } from '../../../application/shared/ports.js';
import type {
  DatasetRepository,
  DatasetVersionEntry,
  InProjectFilter,
  RecordChange,
  RecordDraft,
} from '../../../application/workspace/ports.js';
import { CHANGE_BYTES, changeBytes, ROW_BYTES } from '../../../domain/shared/storage-quota.js';
import { Dataset, type DatasetVersion } from '../../../domain/workspace/dataset.js';
import { containing } from '../search.js';
import { notFoundIfMissing } from '../storage-errors.js';
import { changesOne, newest, plus, type StoredBytes } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { DatasetTable, DatasetVersionTable, LISTED_VERSION } from './dataset-tables.js';
import { OldContents } from './old-contents.js';
import { RecordTidying } from './record-tidying.js';
import { type Chunk, VersionChunks } from './version-chunks.js';
import { columnsOf, VersionLists } from './version-lists.js';

/** A version to be removed, or the version after it. */
interface OldVersion {
  readonly version: number;
  readonly chunks: readonly string[] | null;
  readonly oldContentVersion: number | null;
}

const OLDEST_TWO = `
  SELECT version, chunks, old_content_version AS "oldContentVersion" FROM dataset_versions
   WHERE dataset_id = $1 ORDER BY version LIMIT 2`;

@injectable()
export class TypeOrmDatasetRepository implements DatasetRepository {
  private readonly datasets = () => this.unitOfWork.repository(DatasetTable);
  private readonly history = () => this.unitOfWork.repository(DatasetVersionTable);

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly lists: VersionLists,
    private readonly chunks: VersionChunks,
    private readonly old: OldContents,
    private readonly tidying: RecordTidying,
  ) {}

  add(dataset: Dataset, draft: RecordDraft): Promise<void> {
    return notFoundIfMissing('project', () =>
      this.unitOfWork.run(async () => {
        await this.datasets().insert({ ...dataset, storedBytes: changeBytes(draft) });
        await this.addVersion(dataset, await this.lists.apply({ draft }, []));
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

  async replace({ id, version, state }: Dataset, next: Dataset, change: RecordChange | null): Promise<boolean> {
    const before = next.version === version ? [] : await this.list(id, version);
    return this.unitOfWork.run(async () => {
      const added = change && { storedBytes: plus(changeBytes(change.draft)) };
      if (!(await changesOne(this.datasets().update({ id, version, state }, { ...next, ...added })))) return false;
      if (next.version !== version)
        await this.addVersion(next, change ? await this.lists.apply(change, before) : before);
      return true;
    });
  }

  remove({ id, version }: Dataset): Promise<boolean> {
    return changesOne(this.datasets().delete({ id, version, state: 'editable' }));
  }

  versions(datasetId: string, page: VersionPage): Promise<DatasetVersionEntry[]> {
    const part = newest<DatasetVersion>({ datasetId }, page, 'version');
    return this.history().find({ select: LISTED_VERSION, ...part } as object);
  }

  version(datasetId: string, version: number): Promise<DatasetVersion | null> {
    return this.history().findOneBy({ datasetId, version });
  }

  noteDigest(id: string, version: number, contentSha256: string): Promise<void> {
    return this.unitOfWork.run(async () => {
      const digest = { contentSha256 };
      await this.history().update({ datasetId: id, version, contentSha256: IsNull() }, digest);
      await this.datasets().update({ id, version, contentSha256: IsNull() }, digest);
    });
  }

  async prune(datasetId: string, oldest: number): Promise<void> {
    for (let more = true; more; ) {
      await this.moveSecond(datasetId, oldest);
      more = await this.unitOfWork.run(() => this.pruneOne(datasetId, oldest));
    }
  }

  /** The next version may be about to share records with the oldest, which is moved. So it is moved first. */
  private async moveSecond(datasetId: string, oldest: number): Promise<void> {
    const [removed, next] = await this.unitOfWork.query<OldVersion>(OLDEST_TWO, [datasetId]);
    if (removed && next && removed.version < oldest && mayShare(removed, next))
      await this.list(datasetId, next.version);
  }

  /** Returns true if another version may have to be removed. */
  private async pruneOne(datasetId: string, oldest: number): Promise<boolean> {
    const [removed, next] = await this.unitOfWork.query<OldVersion>(OLDEST_TWO, [datasetId]);
    if (!removed || !next || removed.version >= oldest) return false;
    if (mayShare(removed, next)) return true;
    await this.history().delete({ datasetId, version: removed.version });
    const isShared = removed.oldContentVersion !== null && removed.oldContentVersion === next.oldContentVersion;
    const freed = isShared ? 0 : await this.free(datasetId, removed, next);
    if (freed > 0) await this.datasets().update({ id: datasetId }, { storedBytes: plus(-freed) });
    return true;
  }

  /** Removes what `removed` has and `next`, the version after it, has not. Returns the bytes that this frees. */
  private async free(datasetId: string, removed: OldVersion, next: OldVersion): Promise<number> {
    if (!removed.chunks) {
      const statement = 'DELETE FROM dataset_old_contents WHERE dataset_id = $1 AND version = $2 RETURNING bytes';
      const values = [datasetId, removed.oldContentVersion];
      const rows = await this.unitOfWork.query<{ bytes: number }>(statement, values);
      return rows.reduce((sum, { bytes }) => sum + bytes + ROW_BYTES, 0);
    }
    const gone = without(removed.chunks, next.chunks ?? []);
    const fresh = without(next.chunks ?? [], removed.chunks);
    if (gone.length + fresh.length === 0) return 0;
    // A record that the next version has is in one of its new chunks, since no version has a record twice.
    const kept = new Set((await this.chunks.filled(datasetId, fresh)).flatMap(({ records }) => records));
    const all = (await this.chunks.filled(datasetId, gone)).flatMap(({ records }) => records);
    const records = all.filter((record) => !kept.has(record));
    await this.tidying.note(
      datasetId,
      records,
      gone.map(({ number }) => number),
    );
    const statement = `SELECT coalesce(sum(bytes), 0)::integer AS bytes FROM dataset_records
      WHERE dataset_id = $1 AND number = ANY($2::bigint[])`;
    const [sum] = await this.unitOfWork.query<{ bytes: number }>(statement, [datasetId, records]);
    return (sum?.bytes ?? 0) + CHANGE_BYTES;
  }

  private async list(datasetId: string, version: number): Promise<readonly Chunk[]> {
    return (await this.old.moved(datasetId, version, () => this.lists.find(datasetId, version))) ?? [];
  }

  private async addVersion(dataset: Dataset, list: readonly Chunk[]): Promise<void> {
    await this.history().insert({ ...Dataset.versionOf(dataset), ...columnsOf(list), oldContentVersion: null });
  }
}

const mayShare = (removed: OldVersion, next: OldVersion): boolean => removed.chunks !== null && next.chunks === null;

/** Returns the chunks that only the first list has. */
const without = (chunks: readonly string[], others: readonly string[]): Pick<Chunk, 'number'>[] => {
  const known = new Set(others);
  return chunks.filter((number) => !known.has(number)).map((number) => ({ number: Number(number) }));
};
