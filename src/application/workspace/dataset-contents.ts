import { injectable } from 'inversify';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { DatasetContent } from '../../domain/workspace/dataset.js';
import { canonicalRecords, type DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { validate } from '../../domain/workspace/dataset-validation.js';
import { ContentHasher } from './ports.js';

/** Of the records as JSON. As names count for each record, and escapes as they are written, it can be far more than the body. */
const MEGABYTES = 16;

@injectable()
export class DatasetContents {
  constructor(private readonly hasher: ContentHasher) {}

  /** What a dataset says of these records. Throws InvalidRequest where they are too much to be kept. */
  async of(records: readonly DatasetRecord[]): Promise<DatasetContent> {
    const contentSha256 = await this.hasher.hash(limited(canonicalRecords(records)));
    return { recordCount: records.length, contentSha256, validation: validate(records) };
  }
}

function* limited(pieces: Iterable<string>): Generator<string> {
  const utf8 = new TextEncoder();
  let left = MEGABYTES * 1024 * 1024;
  for (const piece of pieces) {
    left -= utf8.encode(piece).length;
    const message = `are over the limit of ${MEGABYTES} MB as JSON, with the names of the fields in each record`;
    if (left < 0) throw new InvalidRequest([{ path: 'records', message }]);
    yield piece;
  }
}
