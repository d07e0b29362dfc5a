import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import type { DatasetVersion } from '../../domain/workspace/dataset.js';
import { type Differences, differences, differingFields } from '../../domain/workspace/dataset-comparison.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { PAGE_BYTES } from '../shared/bounded-page.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { DatasetService } from './dataset.service.js';
import { DatasetRepository, type RecordEntry } from './ports.js';
import { RecordPages, type VersionOf } from './record-pages.js';
import { found, type InProject } from './team-workspace.js';

/** A version of a dataset. An absent `version` means the current version. */
export interface DatasetAtVersion {
  readonly datasetId: string;
  readonly version?: number | undefined;
}

interface Compared extends InProject, WithMemory {
  readonly own: DatasetAtVersion;
  readonly base: DatasetAtVersion;
  /** The differences of the page: after the first `offset`, in the order added, removed, changed. */
  readonly page: { readonly offset: number; readonly limit: number };
}

interface ChangedRecord {
  readonly id: string;
  readonly fields: readonly string[];
  readonly before: DatasetRecord;
  readonly after: DatasetRecord;
}

/** The two compared versions, the numbers of all changes from `base` to `own`, and a page of the changes. */
export interface DatasetComparison {
  readonly own: VersionOf;
  readonly base: VersionOf;
  readonly counts: { readonly added: number; readonly removed: number; readonly changed: number };
  readonly unchanged: number;
  readonly added: readonly DatasetRecord[];
  readonly removed: readonly DatasetRecord[];
  readonly changed: readonly ChangedRecord[];
  /** The offset of the next page, or null if no more differences follow. */
  readonly next: number | null;
}

/** A difference: a record of one side, or of both. */
interface Difference {
  readonly before?: RecordEntry;
  readonly after?: RecordEntry;
}

/** The memory of an entry. */
const ENTRY_BYTES = 200;

/** Compares versions of datasets. Reads only the records that differ. */
@injectable()
export class DatasetComparisonService {
  constructor(
    private readonly service: DatasetService,
    private readonly datasets: DatasetRepository,
    private readonly pages: RecordPages,
  ) {}

  /** Compares two versions of one dataset or of two datasets of the project. Throws NotFound. */
  async compare(by: Caller | null, { projectId, own, base, page, memory }: Compared): Promise<DatasetComparison> {
    const after = await this.versionOf(by, { projectId, ...own });
    const before = await this.versionOf(by, { projectId, ...base });
    const isSame = before.contentSha256 !== null && before.contentSha256 === after.contentSha256;
    const all = isSame ? unchanged(after) : await this.differences(before, after, memory);
    const counts = { added: all.added.length, removed: all.removed.length, changed: all.changed.length };
    const records = await this.records(before, after, all, page, memory);
    return { own: atVersion(after), base: atVersion(before), counts, unchanged: all.unchanged, ...records };
  }

  private async differences(
    before: DatasetVersion,
    after: DatasetVersion,
    memory: Compared['memory'],
  ): Promise<Differences<RecordEntry>> {
    await memory.reserveBytes(ENTRY_BYTES * (before.recordCount + after.recordCount));
    const [old, fresh] = [await this.entries(before), await this.entries(after)];
    return differences(old, fresh, (one, other) => one.digest === other.digest);
  }

  private async entries(of: VersionOf): Promise<RecordEntry[]> {
    const all: RecordEntry[] = [];
    for await (const part of this.pages.outline(of)) all.push(...part);
    return all;
  }

  /** Reads the records of a page of differences. Long records shorten the page. */
  private async records(
    before: VersionOf,
    after: VersionOf,
    { added, removed, changed }: Differences<RecordEntry>,
    { offset, limit }: Compared['page'],
    memory: Compared['memory'],
  ): Promise<Pick<DatasetComparison, 'added' | 'removed' | 'changed' | 'next'>> {
    const all: Difference[] = [
      ...added.map((one) => ({ after: one })),
      ...removed.map((one) => ({ before: one })),
      ...changed,
    ];
    const part = fitting(all.slice(offset, offset + limit));
    const sides = { before: part.flatMap((one) => one.before ?? []), after: part.flatMap((one) => one.after ?? []) };
    const bytes = [...sides.before, ...sides.after].reduce((sum, one) => sum + one.bytes, 0);
    await memory.reserve(bytes);
    const old = await this.pages.readReserved(before, sides.before);
    const fresh = await this.pages.readReserved(after, sides.after);
    const next = offset + part.length;
    return {
      added: part.flatMap((one) => (one.before || !one.after ? [] : (fresh.get(one.after) ?? []))),
      removed: part.flatMap((one) => (one.after || !one.before ? [] : (old.get(one.before) ?? []))),
      changed: part.flatMap((one) =>
        changedRecord(one.before && old.get(one.before), one.after && fresh.get(one.after)),
      ),
      next: next < all.length ? next : null,
    };
  }

  private async versionOf(by: Caller | null, wanted: InProject & DatasetAtVersion): Promise<DatasetVersion> {
    const dataset = await this.service.find(by, wanted);
    return found('version', await this.datasets.version(dataset.id, wanted.version ?? dataset.version));
  }
}

const atVersion = ({ datasetId, version }: VersionOf): VersionOf => ({ datasetId, version });

const unchanged = ({ recordCount }: DatasetVersion): Differences<RecordEntry> => ({
  added: [],
  removed: [],
  changed: [],
  unchanged: recordCount,
});

function changedRecord(before: DatasetRecord | undefined, after: DatasetRecord | undefined): ChangedRecord[] {
  return before && after ? [{ id: after.id, fields: differingFields(before, after), before, after }] : [];
}

/** Returns the first differences that fit in a page. */
function fitting(all: readonly Difference[]): readonly Difference[] {
  let [count, bytes] = [0, 0];
  for (const { before, after } of all) {
    bytes += (before?.bytes ?? 0) + (after?.bytes ?? 0);
    if (count > 0 && bytes > PAGE_BYTES) break;
    count++;
  }
  return all.slice(0, count);
}
