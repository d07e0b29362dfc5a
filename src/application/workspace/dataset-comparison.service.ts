import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { heldBytes } from '../../domain/shared/text.js';
import type { DatasetVersion } from '../../domain/workspace/dataset.js';
import { differences, differingFields } from '../../domain/workspace/dataset-comparison.js';
import type { DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { PAGE_BYTES } from '../shared/bounded-page.js';
import { HeldMemory } from '../shared/held-memory.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { DatasetService } from './dataset.service.js';
import type { RecordEntry } from './ports.js';
import { RecordPages, type VersionOf } from './record-pages.js';
import type { InProject } from './team-workspace.js';

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

/** A page of differences, and the numbers of all. */
interface Found extends Pick<DatasetComparison, 'counts' | 'unchanged' | 'next'> {
  readonly part: readonly Difference[];
}

/** The memory of an entry with its places in the maps of a comparison, without its texts. */
const ENTRY_BYTES = 400;

/** Compares versions of datasets. Reads only the records that differ. */
@injectable()
export class DatasetComparisonService {
  constructor(
    private readonly service: DatasetService,
    private readonly pages: RecordPages,
  ) {}

  /**
   * Compares two versions of one dataset or of two datasets of the project. Throws NotFound. Throws StaleVersion if a
   * version of a later page was removed.
   */
  async compare(by: Caller | null, { projectId, own, base, page, memory }: Compared): Promise<DatasetComparison> {
    const isContinued = page.offset > 0;
    return this.service.atVersion(by, { projectId, ...own, isContinued }, (after) =>
      this.service.atVersion(by, { projectId, ...base, isContinued }, async (before) => {
        const isSame = before.contentSha256 !== null && before.contentSha256 === after.contentSha256;
        const found = isSame ? unchanged(after) : await this.differences(before, after, page, memory);
        const { counts, unchanged: same, next, part } = found;
        const sides = { own: atVersion(after), base: atVersion(before) };
        return { ...sides, counts, unchanged: same, next, ...(await this.records(before, after, part, memory)) };
      }),
    );
  }

  /** Returns a page of the differences. The entries of both versions are needed only until then. */
  private async differences(
    before: DatasetVersion,
    after: DatasetVersion,
    { offset, limit }: Compared['page'],
    memory: Compared['memory'],
  ): Promise<Found> {
    const held = new HeldMemory(memory);
    const old = await this.entries(before, held, 0);
    const fresh = await this.entries(after, held, old.bytes);
    const isSame = (one: RecordEntry, other: RecordEntry) => one.digest === other.digest;
    const { added, removed, changed, unchanged } = differences(old.all, fresh.all, isSame);
    const all: Difference[] = [
      ...added.map((one) => ({ after: one })),
      ...removed.map((one) => ({ before: one })),
      ...changed,
    ];
    const part = fitting(all.slice(offset, offset + limit));
    const next = offset + part.length;
    return {
      counts: { added: added.length, removed: removed.length, changed: changed.length },
      unchanged,
      part,
      next: next < all.length ? next : null,
    };
  }

  /** Returns all entries of a version, and the memory for comparing them, beside other bytes. */
  private async entries(
    of: VersionOf,
    held: HeldMemory,
    others: number,
  ): Promise<{ all: RecordEntry[]; bytes: number }> {
    const all: RecordEntry[] = [];
    let bytes = others;
    for await (const part of this.pages.outline(of)) {
      all.push(...part);
      for (const { id, group } of part) bytes += ENTRY_BYTES + heldBytes(id) + heldBytes(group ?? '');
      await held.reach(bytes);
    }
    return { all, bytes };
  }

  /** Reads the records of differences. */
  private async records(
    before: VersionOf,
    after: VersionOf,
    part: readonly Difference[],
    memory: Compared['memory'],
  ): Promise<Pick<DatasetComparison, 'added' | 'removed' | 'changed'>> {
    const sides = { before: part.flatMap((one) => one.before ?? []), after: part.flatMap((one) => one.after ?? []) };
    const bytes = [...sides.before, ...sides.after].reduce((sum, one) => sum + one.bytes, 0);
    await memory.reserve(bytes);
    const old = await this.pages.readReserved(before, sides.before);
    const fresh = await this.pages.readReserved(after, sides.after);
    return {
      added: part.flatMap((one) => (one.before || !one.after ? [] : (fresh.get(one.after) ?? []))),
      removed: part.flatMap((one) => (one.after || !one.before ? [] : (old.get(one.before) ?? []))),
      changed: part.flatMap((one) =>
        changedRecord(one.before && old.get(one.before), one.after && fresh.get(one.after)),
      ),
    };
  }
}

const atVersion = ({ datasetId, version }: VersionOf): VersionOf => ({ datasetId, version });

const unchanged = ({ recordCount }: DatasetVersion): Found => ({
  counts: { added: 0, removed: 0, changed: 0 },
  unchanged: recordCount,
  part: [],
  next: null,
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
