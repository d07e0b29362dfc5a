import { InvalidRequest } from '../../domain/shared/errors.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import type { Json } from '../../domain/workspace/json.js';
import { nameFindings } from '../../domain/workspace/name.js';
import { readRecords, type SentRecords } from '../../domain/workspace/reading-records.js';

/** What a team sends of a dataset. The name is whatever was sent, so that it is judged together with the records. */
export interface SentDataset {
  readonly name?: Json;
  readonly sent: SentRecords | null;
}

/** Throws InvalidRequest with all that is wrong. */
export function takenDataset({ name, sent }: SentDataset): { name?: string; records: readonly DatasetRecord[] | null } {
  const { records, problems } = sent ? readRecords(sent) : { records: null, problems: [] };
  const all = [...(name === undefined ? [] : nameFindings(name)), ...problems];
  if (all.length > 0) throw new InvalidRequest(all);
  return { name: name as string | undefined, records };
}
