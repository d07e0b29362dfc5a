import type { RecordEntry } from '../../../src/application/workspace/ports.js';
import { NotFound } from '../../../src/domain/shared/errors.js';
import { Dataset } from '../../../src/domain/workspace/dataset.js';
import { canonicalRecord, type DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import { addDataset, draftOf, recordsOf, replaceDataset } from '../../support/datasets.js';
import { aDataset, aRecord, at, contentOf } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

const many = (count: number, over: Partial<DatasetRecord> = {}) =>
  Array.from({ length: count }, (_, n) => aRecord({ id: `r${n}`, input: `What is ${n}?`, ...over }));

export function recordsContract(adapter: string, store: StoreUnderTest) {
  describe(`Records in ${adapter}`, () => {
    let stock: StockedStore;
    beforeEach(async () => {
      stock = await stocked(store);
    });

    const add = async (records: readonly DatasetRecord[]) => {
      const dataset = aDataset(stock.project, records);
      await addDataset(stock, dataset, records);
      return dataset;
    };
    const next = (dataset: Dataset, records: readonly DatasetRecord[]) =>
      Dataset.update(dataset, [], { content: contentOf(records), by: 'usr_2', at: at(dataset.version) });
    /** Puts records in the place of a part of the current version. */
    const splice = async (dataset: Dataset, offset: number, count: number, ...rows: DatasetRecord[]) => {
      const after = next(dataset, rows);
      const draft = await draftOf(stock, dataset.id, rows);
      expect(await stock.datasets.replace(dataset, after, { draft, instead: { offset, count } })).toBe(true);
      return after;
    };
    const stored = (dataset: Pick<Dataset, 'id'>, version: number) => recordsOf(stock, dataset.id, version);
    const entries = async ({ id }: Dataset, version = 1, span = { offset: 0, count: 100_000 }) =>
      (await stock.records.entries(id, version, span)) as RecordEntry[];
    const tidy = async () => {
      while (await stock.records.tidy());
    };

    it('are read in parts of any size, in their order', async () => {
      const records = many(1_200);
      const dataset = await add(records);
      for (const [offset, count] of [
        [0, 1],
        [255, 2],
        [256, 256],
        [1_000, 500],
        [1_200, 5],
        [9_999, 5],
      ] as const) {
        const part = await entries(dataset, 1, { offset, count });
        expect(part.map((one) => one.offset)).toEqual(records.slice(offset, offset + count).map((_, n) => offset + n));
        expect(await stock.records.read(dataset.id, part)).toEqual(records.slice(offset, offset + count));
      }
      const backwards = (await entries(dataset)).slice(0, 3).reverse();
      expect(await stock.records.read(dataset.id, backwards)).toEqual(records.slice(0, 3).reverse());
      expect(await stock.records.entries(dataset.id, 2, { offset: 0, count: 1 })).toBeNull();
    });

    it('have entries that tell what is known without their content', async () => {
      const same = aRecord({ group: 'g', input: { a: 1, b: 2 } });
      const [one, other, empty] = await entries(
        await add([same, { ...same, id: 'x', input: { b: 2, a: 1 } }, aRecord({ input: ' ', expected: [] })]),
      );
      expect(one).toMatchObject({ id: same.id, group: 'g', offset: 0, emptyInput: false, emptyExpected: false });
      expect(one?.bytes).toBe(Buffer.byteLength(canonicalRecord(same).text));
      expect(other?.digest).toBe(one?.digest);
      expect(other?.digest).toBe(stock.records.digestOf(canonicalRecord(same)));
      expect(empty).toMatchObject({ emptyInput: true, emptyExpected: true });
      expect(empty?.digest).not.toBe(one?.digest);
    });

    it('are replaced, added and removed at any place, and earlier versions stay as they were', async () => {
      const expected: DatasetRecord[][] = [many(600)];
      let dataset = await add(expected[0] as DatasetRecord[]);
      const places: [offset: number, count: number, added: number][] = [
        [300, 1, 1],
        [0, 1, 0],
        [599, 0, 1],
        [255, 3, 2],
        [0, 0, 300],
        [899, 1, 0],
        [0, 898, 0],
        [0, 0, 0],
      ];
      for (const [offset, count, added] of places) {
        const rows = Array.from({ length: added }, () => aRecord());
        const after = [...(expected.at(-1) as DatasetRecord[])];
        after.splice(offset, count, ...rows);
        expected.push(after);
        dataset = await splice(dataset, offset, count, ...rows);
      }
      for (const [index, records] of expected.entries()) {
        expect(await stored(dataset, index + 1)).toEqual(records);
        expect((await entries(dataset, index + 1)).map((one) => one.offset)).toEqual(records.map((_, n) => n));
      }
    });

    it('that stay the same in a new version are not stored again', async () => {
      const records = many(800);
      const dataset = await add(records);
      const before = await entries(dataset);
      const changed = [
        ...records.slice(400),
        aRecord(),
        ...records.slice(0, 399),
        { ...(records[399] as DatasetRecord), group: 'g' },
      ];
      const draft = await draftOf(stock, dataset.id, changed, 1);
      expect(draft.count).toBe(changed.length);
      expect(draft.bytes).toBeLessThan(2_000);
      await stock.datasets.replace(dataset, next(dataset, changed), { draft });
      expect(await stored(dataset, 2)).toEqual(changed);
      const after = new Set((await entries(dataset, 2)).map(({ number }) => number));
      expect(before.filter(({ number }) => after.has(number))).toHaveLength(799);
    });

    it('keep the order of their keys: the same content in another order is stored again', async () => {
      const record = aRecord({ input: JSON.parse('{"b":1,"a":2}') });
      const dataset = await add([record]);
      const turned = { ...record, input: JSON.parse('{"a":2,"b":1}') };
      await replaceDataset(stock, dataset, next(dataset, [turned]), [turned]);
      expect(JSON.stringify(await stored(dataset, 2))).toContain('{"a":2,"b":1}');
      expect(JSON.stringify(await stored(dataset, 1))).toContain('{"b":1,"a":2}');
    });

    it('are found by their ids, and by their content, in one version only', async () => {
      const records = [...many(300), aRecord({ id: 'twice', input: 1 }), aRecord({ id: 'twice', input: 2 })];
      const dataset = await add(records);
      const after = await splice(dataset, 300, 1, aRecord({ id: 'new', input: 3 }));
      const ids = async (version: number, ...wanted: string[]) =>
        (await stock.records.withIds(dataset.id, version, wanted))?.map(({ id, offset }) => [id, offset]);
      expect(await ids(1, 'twice', 'r7', 'none')).toEqual([
        ['r7', 7],
        ['twice', 300],
        ['twice', 301],
      ]);
      expect(await ids(2, 'twice', 'new')).toEqual([
        ['new', 300],
        ['twice', 301],
      ]);
      expect(await ids(9, 'r7')).toBeUndefined();
      const digest = (record: DatasetRecord) => stock.records.digestOf(canonicalRecord(record));
      const gone = digest(records[300] as DatasetRecord);
      const kept = digest(records[7] as DatasetRecord);
      expect(await stock.records.knownDigests(dataset.id, 1, [gone, kept])).toEqual(new Set([gone, kept]));
      expect(await stock.records.knownDigests(dataset.id, after.version, [gone, kept])).toEqual(new Set([kept]));
    });

    it('are searched by group and by a part of any value, in pages', async () => {
      const dataset = await add([
        aRecord({ id: 'a', group: 'Europe', input: 'Say "hi" in Ürümqi', expected: 'x' }),
        aRecord({ id: 'b', group: null, input: { text: ['deep ünder'] }, expected: 'x' }),
        aRecord({ id: 'c', group: 'Europe', input: 'y', expected: 'x', fields: { note: '50%_[a]' } }),
        aRecord({ id: 'UPPER', group: 'asia', input: 'y', expected: 'hidden' }),
      ]);
      const find = async (filter: { q?: string; group?: string | null }, offset = 0, count = 9) => {
        const page = await stock.records.matching(dataset.id, 1, { offset, count, ...filter });
        return [page?.entries.map(({ id }) => id).join(), page?.next];
      };
      expect(await find({ group: 'Europe' })).toEqual(['a,c', null]);
      expect(await find({ group: null })).toEqual(['b', null]);
      expect(await find({ q: '"HI" in ürümQI' })).toEqual(['a', null]);
      expect(await find({ q: 'Ünder' })).toEqual(['b', null]);
      expect(await find({ q: '%_[A]' })).toEqual(['c', null]);
      expect(await find({ q: 'upper' })).toEqual(['UPPER', null]);
      expect(await find({ q: 'hid' })).toEqual(['UPPER', null]);
      expect(await find({ q: 'expected' })).toEqual(['', null]);
      expect(await find({ q: 'eur', group: 'Europe' }, 0, 1)).toEqual(['a', 1]);
      expect(await find({ q: 'eur', group: 'Europe' }, 1, 1)).toEqual(['c', 3]);
      expect(await find({ q: 'eur', group: 'Europe' }, 3, 1)).toEqual(['', null]);
      expect(await stock.records.matching(dataset.id, 2, { offset: 0, count: 1 })).toBeNull();
    });

    it('of a draft are copies of another dataset’s, with more than one statement can take', async () => {
      const records = many(2_300, { expected: 'x'.repeat(2_000) });
      const source = await add(records);
      const copy = aDataset(stock.project, records);
      const draft = await stock.records.draft(copy.id);
      await draft.copy(source.id, await entries(source));
      await stock.datasets.add(copy, draft);
      await draft.discard(); // does nothing any more
      await stock.datasets.remove(source);
      await tidy();
      expect(await stored(copy, 1)).toEqual(records);
      const late = await stock.records.draft(copy.id);
      await expect(late.copy(source.id, [{ number: 1, bytes: 1 }])).rejects.toThrow(NotFound);
    });

    it('of a draft that nobody takes, of removed versions and of removed datasets disappear', async () => {
      const [dataset, other] = [await add(many(2_500)), await add(many(3))];
      const draft = await draftOf(stock, other.id, many(1_500));
      await draft.discard();
      const changed = next(dataset, []);
      await replaceDataset(stock, dataset, changed, [...many(2_499), aRecord()]);
      await stock.datasets.prune(dataset.id, 2);
      const numbers = await entries(dataset, 2);
      await tidy();
      expect(await stored(dataset, 2)).toHaveLength(2_500);
      await stock.datasets.remove(changed);
      await tidy();
      expect(await stock.records.read(dataset.id, numbers)).toEqual([]);
      expect(await stored(other, 1)).toHaveLength(3);
      const late = await stock.datasets.replace(other, next(other, []), { draft }).catch((error: unknown) => error);
      expect(late).toMatchObject({ code: 'storage_unavailable' });
      expect(await stored(other, 1)).toHaveLength(3);
    });

    it('of a draft that nobody takes disappear in small steps if they are large', async () => {
      const dataset = await add([]);
      const draft = await draftOf(stock, dataset.id, many(12, { input: 'x'.repeat(2 * 1024 * 1024) }));
      await draft.discard();
      let steps = 0;
      while (await stock.records.tidy()) steps++;
      expect(steps).toBeGreaterThan(3);
    });

    it('are found by text among large ones', async () => {
      const large = { input: 'x'.repeat(5 * 1024 * 1024) };
      const dataset = await add([...many(4, large), aRecord({ id: 'found', expected: 'here' }), ...many(2, large)]);
      const page = await stock.records.matching(dataset.id, 1, { offset: 0, count: 9, q: 'HERE' });
      expect([page?.entries.map(({ id }) => id), page?.next]).toEqual([['found'], null]);
    });

    it('of many versions with one changed record each take few chunks, and are all read correctly', async () => {
      const records = many(1_000);
      let dataset = await add(records);
      for (let n = 0; n < 30; n++) dataset = await splice(dataset, (n * 37) % 1_000, 1, aRecord({ id: `new${n}` }));
      const newest = (await stored(dataset, 31)) as DatasetRecord[];
      expect(newest).toHaveLength(1_000);
      expect(newest.filter(({ id }) => id.startsWith('new'))).toHaveLength(30);
      expect(await stored(dataset, 1)).toEqual(records);
      await stock.datasets.prune(dataset.id, 31);
      await tidy();
      expect(await stored(dataset, 31)).toEqual(newest);
    });
  });
}
