import { injectable } from 'inversify';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { heldBytes, utf8Bytes } from '../../domain/shared/text.js';
import type { Dataset, DatasetContent } from '../../domain/workspace/dataset.js';
import { RecordReader, type SentRecords } from '../../domain/workspace/dataset-import.js';
import {
  CanonicalList,
  type CanonicalRecord,
  canonicalRecord,
  type DatasetRecord,
} from '../../domain/workspace/dataset-record.js';
import { type FindingCode, outlineOf, type Validation, Validator } from '../../domain/workspace/dataset-validation.js';
import { HeldMemory } from '../shared/held-memory.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { ServiceSettings } from '../shared/ports.js';
import { DatasetContents } from './dataset-content.js';
import {
  ContentHasher,
  type EntryPage,
  type RecordDraft,
  type RecordEntry,
  type RecordFilter,
  RecordRepository,
  type RecordSpan,
} from './ports.js';
import { FIRST_RECORDS, RecordPages, type VersionOf } from './record-pages.js';
import { found } from './team-workspace.js';

/** The records that an append puts into a draft. */
interface Added {
  readonly ids: readonly string[];
  readonly duplicates: number;
  /** The length of the new records as canonical JSON. */
  readonly bytes: number;
  readonly records: readonly DatasetRecord[];
}

interface Sent extends WithMemory {
  readonly sent: SentRecords;
  readonly distinctIds?: boolean | undefined;
}

/** Records in the place of a part of a version. */
interface Splice extends WithMemory {
  readonly span: RecordSpan;
  readonly records: readonly DatasetRecord[];
  /** The length of all records together, less that of the records that they replace. */
  readonly bytes: number;
}

/** The matches that are read together. */
const MOST_MATCHES = 1_000;

/** Works out what a change of a few records makes of a dataset, without reading all its records if it can. */
@injectable()
export class RecordEdit {
  constructor(
    private readonly stored: RecordRepository,
    private readonly pages: RecordPages,
    private readonly contents: DatasetContents,
    private readonly hasher: ContentHasher,
    private readonly settings: ServiceSettings,
  ) {}

  bytesOf({ text }: CanonicalRecord): number {
    return utf8Bytes(text);
  }

  /**
   * Adds the sent records to a draft, except those whose content the dataset has. With `distinctIds`, a record with an id
   * that is taken gets this id with a number. Throws InvalidRequest.
   */
  async add(before: Dataset, draft: RecordDraft, { sent, distinctIds = false, memory }: Sent): Promise<Added> {
    const known = new Set<string>();
    const fresh: CanonicalRecord[] = [];
    let [duplicates, bytes, texts] = [0, 0, 0];
    const records = await this.numbered(before, sent, memory);
    const held = new HeldMemory(memory);
    for (const record of records) {
      const canonical = canonicalRecord(record);
      const digest = this.stored.digestOf(canonical);
      if (known.has(digest)) duplicates++;
      else {
        fresh.push(canonical);
        texts += heldBytes(canonical.text) + heldBytes(canonical.content) + heldBytes(digest);
        await held.reach(texts);
      }
      known.add(digest);
    }
    const had = await this.stored.knownDigests(before.id, before.version, [...known]);
    const others = fresh.filter((one) => !had.has(this.stored.digestOf(one)));
    const added = distinctIds ? await this.withDistinctIds(before, others) : others;
    duplicates += fresh.length - added.length;
    const [count, most] = [before.recordCount + added.length, this.settings.datasetRecords];
    if (count > most) {
      const message = `there are ${added.length} new rows, and the dataset has ${before.recordCount} records, but it may have at most ${most} (SERVICE_DATASET_RECORDS)`;
      throw new InvalidRequest([{ path: 'records', message }]);
    }
    for (const one of added) bytes += this.bytesOf(one);
    this.contents.requireWithin(before.bytes + bytes + added.length);
    await draft.add(added);
    const own = added.map(({ record }) => record);
    return { ids: own.map(({ id }) => id), duplicates, bytes, records: own };
  }

  /** Returns the summary of a dataset after a splice. The digest of a large dataset stays unknown. */
  async content(
    { id, version, ...before }: Dataset,
    { span, records, bytes, memory }: Splice,
  ): Promise<DatasetContent> {
    const of = { datasetId: id, version };
    const recordCount = before.recordCount - span.count + records.length;
    const own = before.bytes - framing(before.recordCount);
    const whole = own + bytes + framing(recordCount);
    this.contents.requireWithin(whole);
    const validation = await this.validation(of, before, { span, records, memory });
    const isSmall = Math.max(recordCount, before.recordCount) <= FIRST_RECORDS.count && whole <= FIRST_RECORDS.bytes;
    return {
      recordCount,
      bytes: whole,
      validation,
      contentSha256: isSmall ? await this.digest(of, span, records) : null,
    };
  }

  /** Returns the entries with the finding from an offset on that match the filter: one more than `count`. */
  async entriesWith(
    of: VersionOf,
    code: FindingCode,
    { offset, count, group, q, memory }: RecordSpan & RecordFilter & WithMemory,
  ): Promise<RecordEntry[]> {
    const isFiltered = group !== undefined || q !== undefined;
    const matches = isFiltered ? this.matching(of, { offset, group, q }) : null;
    let match = await matches?.next();
    const validator = new Validator(0);
    const held = new HeldMemory(memory);
    const entries: RecordEntry[] = [];
    for await (const part of this.pages.outline(of)) {
      for (const entry of part) {
        const isFound = validator.add(entry).includes(code) && entry.offset >= offset;
        if (!isFound) continue;
        while (match?.value && match.value.offset < entry.offset) match = await matches?.next();
        if (!matches || match?.value?.offset === entry.offset) entries.push(entry);
        if (entries.length > count) return entries;
      }
      await held.reach(validator.bytes);
    }
    return entries;
  }

  /** Yields the entries from an offset on that match the filter, in their order. */
  private async *matching(
    { datasetId, version }: VersionOf,
    { offset, ...filter }: Pick<RecordSpan, 'offset'> & RecordFilter,
  ): AsyncGenerator<RecordEntry, undefined> {
    for (let at: number | null = offset; at !== null; ) {
      const wanted: RecordSpan & RecordFilter = { offset: at, count: MOST_MATCHES, ...filter };
      const { entries, next }: EntryPage = found('version', await this.stored.matching(datasetId, version, wanted));
      yield* entries;
      at = next;
    }
  }

  /** Returns the sent records. A record without an id gets one that no other record has. */
  private async numbered(before: Dataset, sent: SentRecords, memory: WithMemory['memory']): Promise<DatasetRecord[]> {
    const held = new HeldMemory(memory);
    let taken: string[] = [];
    for (;;) {
      const reader = new RecordReader(this.settings.datasetRecords, [], undefined, before.recordCount + 1);
      for (const id of taken) reader.take(id);
      const records: DatasetRecord[] = [];
      const given = new Set<string>();
      for await (const rows of sent.batches()) reader.check(rows);
      await held.reach(2 * reader.bytes);
      for await (const rows of sent.batches()) {
        const read = reader.read(rows);
        for (const [index, record] of read.entries()) if (!hasId(rows[index])) given.add(record.id);
        records.push(...read);
      }
      const known = found('version', await this.stored.withIds(before.id, before.version, [...given]));
      if (known.length === 0) return records;
      if (taken.length === 0) taken = await this.idsOf(before);
      else taken.push(...known.map(({ id }) => id)); // another change was faster
    }
  }

  private async withDistinctIds(before: Dataset, records: readonly CanonicalRecord[]): Promise<CanonicalRecord[]> {
    const wanted = records.map(({ record }) => record.id);
    const isTaken = found('version', await this.stored.withIds(before.id, before.version, wanted)).length > 0;
    const taken = new Set(isTaken ? await this.idsOf(before) : []);
    return records.map((one) => {
      const { record } = one;
      let { id } = record;
      for (let number = 2; taken.has(id); number++) id = `${record.id}-${number}`;
      taken.add(id);
      return id === record.id ? one : canonicalRecord({ ...record, id });
    });
  }

  private async idsOf({ id: datasetId, version }: Dataset): Promise<string[]> {
    const ids: string[] = [];
    for await (const entries of this.pages.outline({ datasetId, version })) for (const { id } of entries) ids.push(id);
    return ids;
  }

  /** A valid dataset stays valid if the new records have no findings of their own and new ids. */
  private async validation(
    of: VersionOf,
    before: Pick<Dataset, 'validation' | 'recordCount'>,
    { span, records, memory }: Omit<Splice, 'bytes'>,
  ): Promise<Validation> {
    const own = new Validator();
    for (const record of records) own.add(outlineOf(record));
    const isLeft = before.recordCount - span.count > 0;
    const isGood = records.length === 0 ? isLeft : own.result.valid;
    if (before.validation.valid && isGood) {
      const same = await this.stored.withIds(
        of.datasetId,
        of.version,
        records.map(({ id }) => id),
      );
      const isReplaced = ({ offset }: RecordEntry) => offset >= span.offset && offset < span.offset + span.count;
      if (found('version', same).every(isReplaced)) return before.validation;
    }
    const validator = new Validator();
    const held = new HeldMemory(memory);
    for await (const part of spliced(this.pages.outline(of), span, records.map(outlineOf))) {
      for (const outline of part) validator.add(outline);
      await held.reach(validator.bytes);
    }
    return validator.result;
  }

  private async digest(of: VersionOf, span: RecordSpan, records: readonly DatasetRecord[]): Promise<string> {
    const digest = this.hasher.begin();
    const list = new CanonicalList();
    for await (const part of spliced(this.pages.all(of), span, records))
      for (const record of part) digest.add(list.next(canonicalRecord(record).text));
    digest.add(list.end);
    return digest.end();
  }
}

/** Yields all items in parts, with other items in the place of a span. */
async function* spliced<T>(
  parts: AsyncIterable<readonly T[]>,
  { offset, count }: RecordSpan,
  others: readonly T[],
): AsyncGenerator<readonly T[]> {
  let at = 0;
  for await (const part of parts) {
    const [from, to] = [offset - at, offset + count - at].map((place) => Math.min(Math.max(place, 0), part.length));
    yield part.slice(0, from);
    if (offset >= at && offset < at + part.length) yield others;
    yield part.slice(to);
    at += part.length;
  }
  if (offset >= at) yield others;
}

/** Returns the bytes of the brackets and commas around so many records. */
const framing = (count: number): number => (count === 0 ? 2 : count + 1);

const hasId = (row: unknown): boolean => {
  const id = (row as { id?: unknown } | null)?.id;
  return typeof id === 'string' && id.trim() !== '';
};
