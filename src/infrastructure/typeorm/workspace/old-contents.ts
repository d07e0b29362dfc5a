import { injectable } from 'inversify';
import type { MovedContent } from '../../../application/workspace/ports.js';
import { changeBytes, ROW_BYTES } from '../../../domain/shared/storage-quota.js';
import { canonicalRecord, type DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { TypeOrmRecordDraft } from './record-draft.js';
import { columnsOf, VersionLists } from './version-lists.js';

/**
 * The next content to move. It is the oldest of its dataset, so that later ones share its records. The dataset is the
 * one before if that has more, else any, so that several instances seldom move the same.
 */
const NEXT = `
  SELECT dataset_id AS "datasetId", min(version) AS version, count(*) OVER ()::integer AS datasets
    FROM dataset_old_contents GROUP BY dataset_id ORDER BY (dataset_id = $1) DESC, random() LIMIT 1`;

const CONTENT_OF = `
  SELECT old_content_version AS version FROM dataset_versions
   WHERE dataset_id = $1 AND version = $2 AND old_content_version IS NOT NULL`;

/** The list of the version right before those with the content, if that version has one. */
const EARLIER = `
  SELECT earlier.version FROM dataset_versions earlier
   WHERE earlier.dataset_id = $1 AND earlier.chunks IS NOT NULL AND earlier.version = (
     SELECT max(version) FROM dataset_versions WHERE dataset_id = $1 AND version < (
       SELECT min(version) FROM dataset_versions WHERE dataset_id = $1 AND old_content_version = $2))`;

interface OldContent {
  readonly datasetId: string;
  readonly version: number;
}

/**
 * Moves the contents of versions that an earlier release stored as a whole. Each content moves on its own: when its
 * first reader needs it, or in the background. A crash leaves it as it was, and the records stored so far are removed
 * like those of any draft. Two instances may move the same content: one of them gives up its draft.
 */
@injectable()
export class OldContents {
  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    private readonly lists: VersionLists,
  ) {}

  /** Returns what `find` returns. Moves the content of the version and asks again if `find` returns undefined. */
  async moved<T>(datasetId: string, version: number, find: () => Promise<T | undefined>): Promise<T | null> {
    const found = await find();
    if (found !== undefined) return found;
    const [content] = await this.unitOfWork.query<{ version: number }>(CONTENT_OF, [datasetId, version]);
    if (content) await this.move({ datasetId, version: content.version });
    return (await find()) ?? null;
  }

  /** Moves one content, if possible of the dataset `last`. Returns null if nothing is left to move. */
  async moveOne(last: string): Promise<MovedContent | null> {
    const [next] = await this.unitOfWork.query<OldContent & MovedContent>(NEXT, [last]);
    if (!next) return null;
    await this.move(next);
    return next;
  }

  private async move({ datasetId, version }: OldContent): Promise<void> {
    const statement = 'SELECT records, bytes FROM dataset_old_contents WHERE dataset_id = $1 AND version = $2';
    const [old] = await this.unitOfWork.query<{ records: DatasetRecord[]; bytes: number }>(statement, [
      datasetId,
      version,
    ]);
    if (!old) return;
    const [earlier] = await this.unitOfWork.query<{ version: number }>(EARLIER, [datasetId, version]);
    const before = (earlier && (await this.lists.find(datasetId, earlier.version))) ?? [];
    const stored = await this.lists.storedRecords(datasetId, before);
    const draft = await TypeOrmRecordDraft.begin(this.unitOfWork, datasetId, stored);
    try {
      for (const record of old.records) await draft.add([canonicalRecord(record)]);
      if (!(await this.take(draft, { datasetId, version }, before, old.bytes))) await draft.discard();
    } catch (error) {
      await draft.discard().catch(() => undefined);
      throw error;
    }
  }

  /** Returns false if the content has been moved or removed meanwhile. */
  private take(
    draft: TypeOrmRecordDraft,
    { datasetId, version }: OldContent,
    before: Parameters<VersionLists['apply']>[1],
    bytes: number,
  ): Promise<boolean> {
    const content = [datasetId, version];
    return this.unitOfWork.run(async () => {
      const removal = 'DELETE FROM dataset_old_contents WHERE dataset_id = $1 AND version = $2 RETURNING version';
      if ((await this.unitOfWork.query(removal, content)).length === 0) return false;
      const { chunks, sizes } = columnsOf(await this.lists.apply({ draft }, before));
      await this.unitOfWork.query(
        `UPDATE dataset_versions SET chunks = $3, sizes = $4, old_content_version = NULL
          WHERE dataset_id = $1 AND old_content_version = $2`,
        [...content, chunks, sizes],
      );
      await this.unitOfWork.query('UPDATE datasets SET stored_bytes = greatest(0, stored_bytes + $2) WHERE id = $1', [
        datasetId,
        changeBytes(draft) - bytes - ROW_BYTES,
      ]);
      return true;
    });
  }
}
