import { injectable } from 'inversify';
import { CanonicalList, type DatasetRecord } from '../../domain/workspace/dataset-record.js';
import { PAGE_BYTES } from '../shared/bounded-page.js';
import type { Reservation } from '../shared/memory-budget.js';
import {
  ContentHasher,
  DatasetRepository,
  type RecordEntry,
  type RecordFilter,
  RecordRepository,
  type RecordSpan,
} from './ports.js';
import { found } from './team-workspace.js';

/** A version of a dataset. */
export interface VersionOf {
  readonly datasetId: string;
  readonly version: number;
}

export interface RecordsPage {
  readonly records: readonly DatasetRecord[];
  /** The offset of the next page, or null if no more records follow. */
  readonly next: number | null;
}

/** A dataset is answered with its first records: this number, but at most so many bytes. */
export const FIRST_RECORDS = { count: 500, bytes: 16 * 1024 * 1024 } as const;

/** The records that are read together when all are read one after another. */
const BATCH = { count: 1_000, bytes: 1024 * 1024 } as const;
/** The entries that are read together. They have no content. */
const MOST_ENTRIES = 5_000;

/** Reads the records of versions in parts, so that no call holds all of them. */
@injectable()
export class RecordPages {
  constructor(
    private readonly stored: RecordRepository,
    private readonly datasets: DatasetRepository,
    private readonly hasher: ContentHasher,
  ) {}

  /** Returns the first records of a version. Throws NotFound if the version is gone. */
  async first(of: VersionOf, memory: Reservation): Promise<readonly DatasetRecord[]> {
    const entries = await this.entries(of, { offset: 0, count: FIRST_RECORDS.count });
    return this.read(of, fitting(entries, FIRST_RECORDS.bytes), memory);
  }

  /** Returns the records of a page that match. Long records shorten the page. Throws NotFound. */
  async page(of: VersionOf, wanted: RecordSpan & RecordFilter, memory: Reservation): Promise<RecordsPage> {
    const isFiltered = wanted.group !== undefined || wanted.q !== undefined;
    if (isFiltered) {
      const { entries, next } = found('version', await this.stored.matching(of.datasetId, of.version, wanted));
      return this.pageOf(of, entries, next, memory);
    }
    const { offset, count } = wanted;
    const entries = await this.entries(of, { offset, count: count + 1 });
    return this.pageOf(of, entries.slice(0, count), entries.length > count ? offset + count : null, memory);
  }

  /** Reads the entries that fit in a page. `next` is the offset after all of them. */
  async pageOf(
    of: VersionOf,
    entries: readonly RecordEntry[],
    next: number | null,
    memory: Reservation,
  ): Promise<RecordsPage> {
    const part = fitting(entries, PAGE_BYTES);
    return { records: await this.read(of, part, memory), next: entries[part.length]?.offset ?? next };
  }

  /** Reserves memory and returns the records of entries. Throws NotFound if one was removed meanwhile. */
  async read(of: VersionOf, entries: readonly RecordEntry[], memory: Reservation): Promise<readonly DatasetRecord[]> {
    await memory.reserve(entries.reduce((sum, { bytes }) => sum + bytes, 0));
    return complete(await this.stored.read(of.datasetId, entries), entries);
  }

  /** Returns the records of entries, whose memory the caller has reserved. Throws NotFound if one was removed. */
  async readReserved(of: VersionOf, entries: readonly RecordEntry[]): Promise<ReadonlyMap<RecordEntry, DatasetRecord>> {
    const records = complete(await this.stored.read(of.datasetId, entries), entries);
    return new Map(entries.map((entry, at) => [entry, records[at] as DatasetRecord]));
  }

  /** Yields the entries of a version from an offset on, in parts. Throws NotFound if the version is gone. */
  async *outline(of: VersionOf, offset = 0): AsyncGenerator<readonly RecordEntry[]> {
    for (let at = offset; ; at += MOST_ENTRIES) {
      const entries = await this.entries(of, { offset: at, count: MOST_ENTRIES });
      if (entries.length > 0) yield entries;
      if (entries.length < MOST_ENTRIES) return;
    }
  }

  /** Yields the records of a version in parts, from an offset on. Throws NotFound if the version is gone. */
  async *all(of: VersionOf, offset = 0): AsyncGenerator<readonly DatasetRecord[]> {
    for (let at = offset; ; ) {
      const part = { offset: at, ...BATCH };
      const records = found('version', await this.stored.records(of.datasetId, of.version, part));
      if (records.length === 0) return;
      yield records;
      at += records.length;
    }
  }

  /** Returns the version with its digest. Computes and stores the digest if it is unknown. Throws NotFound. */
  async withDigest<T extends { readonly contentSha256: string | null }>(
    of: VersionOf,
    summary: T,
  ): Promise<T & { readonly contentSha256: string }> {
    const contentSha256 = summary.contentSha256 ?? (await this.digest(of));
    if (summary.contentSha256 === null) await this.datasets.noteDigest(of.datasetId, of.version, contentSha256);
    return { ...summary, contentSha256 };
  }

  private async digest(of: VersionOf): Promise<string> {
    const digest = this.hasher.begin();
    const list = new CanonicalList();
    for (let offset = 0; ; ) {
      const texts = found('version', await this.stored.canonical(of.datasetId, of.version, { offset, ...BATCH }));
      if (texts.length === 0) break;
      for (const text of texts) digest.add(list.next(text));
      offset += texts.length;
    }
    digest.add(list.end);
    return digest.end();
  }

  private async entries({ datasetId, version }: VersionOf, span: RecordSpan): Promise<readonly RecordEntry[]> {
    return found('version', await this.stored.entries(datasetId, version, span));
  }
}

/** Returns the first entries that have at most `most` bytes together, or a single larger one. */
function fitting(entries: readonly RecordEntry[], most: number): readonly RecordEntry[] {
  let [count, bytes] = [0, 0];
  for (const entry of entries) {
    bytes += entry.bytes;
    if (count > 0 && bytes > most) break;
    count++;
  }
  return entries.slice(0, count);
}

/** Throws NotFound unless there is a record for each entry. */
function complete(records: readonly DatasetRecord[], entries: readonly unknown[]): readonly DatasetRecord[] {
  return found('version', records.length === entries.length ? records : null);
}
