import type { DatasetContent } from '../../domain/workspace/dataset.js';
import { canonicalRecords, type DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { validate } from '../../domain/workspace/dataset-validation.js';
import type { ContentHasher } from './ports/content-hasher.js';

export class DatasetContents {
  constructor(private readonly hasher: ContentHasher) {}

  /** What a dataset says of these records. */
  async of(records: readonly DatasetRecord[]): Promise<DatasetContent> {
    const contentSha256 = await this.hasher.hash(canonicalRecords(records));
    return { recordCount: records.length, contentSha256, validation: validate(records) };
  }
}
