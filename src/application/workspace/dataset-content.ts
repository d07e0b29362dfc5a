import { injectable } from 'inversify';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { utf8Bytes } from '../../domain/shared/text.js';
import type { DatasetContent } from '../../domain/workspace/dataset.js';
import {
  CanonicalList,
  type CanonicalRecord,
  canonicalRecord,
  type DatasetRecord,
} from '../../domain/workspace/dataset-record.js';
import { outlineOf, Validator } from '../../domain/workspace/dataset-validation.js';
import { HeldMemory } from '../shared/held-memory.js';
import type { Reservation } from '../shared/memory-budget.js';
import { ServiceSettings } from '../shared/ports.js';
import { ContentHasher, type RecordDraft } from './ports.js';
import { FIRST_RECORDS } from './record-pages.js';

/** The whole new content of a dataset, with its first records for the answer. */
export interface CollectedContent {
  readonly content: DatasetContent & { readonly contentSha256: string };
  readonly first: readonly DatasetRecord[];
}

const MEBIBYTE = 1024 * 1024;

/** Puts all records of a new version into a draft, and sums them up on the way. */
@injectable()
export class DatasetContents {
  constructor(
    private readonly hasher: ContentHasher,
    private readonly settings: ServiceSettings,
  ) {}

  /** Throws InvalidRequest if the records exceed the limit of bytes. */
  async collect(
    batches: AsyncIterable<readonly DatasetRecord[]> | Iterable<readonly DatasetRecord[]>,
    draft: Pick<RecordDraft, 'add'>,
    memory: Reservation,
  ): Promise<CollectedContent> {
    const held = new HeldMemory(memory);
    const digest = this.hasher.begin();
    const list = new CanonicalList();
    const validator = new Validator();
    const first: DatasetRecord[] = [];
    let [count, bytes, firstBytes, heldFirst] = [0, 0, 0, 0];
    for await (const batch of batches) {
      const records: CanonicalRecord[] = [];
      for (const record of batch) {
        const canonical = canonicalRecord(record);
        const piece = list.next(canonical.text);
        const length = utf8Bytes(piece);
        bytes += length;
        this.requireWithin(bytes);
        digest.add(piece);
        validator.add(outlineOf(record));
        records.push(canonical);
        if (count++ < FIRST_RECORDS.count && (first.length === 0 || firstBytes + length <= FIRST_RECORDS.bytes)) {
          firstBytes += length;
          heldFirst += length;
          first.push(record);
        } else firstBytes = Number.POSITIVE_INFINITY; // a later short record must not follow a gap
      }
      await held.reach(validator.bytes + heldFirst);
      await draft.add(records);
    }
    digest.add(list.end);
    const content = {
      recordCount: count,
      contentSha256: digest.end(),
      bytes: bytes + list.end.length,
      validation: validator.result,
    };
    return { content, first };
  }

  /** Throws InvalidRequest if the canonical records of a dataset have too many bytes. */
  requireWithin(bytes: number): void {
    const { datasetBytes } = this.settings;
    if (bytes <= datasetBytes) return;
    const limit = Math.floor(datasetBytes / MEBIBYTE);
    const message = `are over the limit of ${limit} MiB as JSON, with the names of the fields in each record (3.2 times SERVICE_DATASET_IMPORT_MB)`;
    throw new InvalidRequest([{ path: 'records', message }]);
  }
}
