import { NotFound } from '../../../src/domain/shared/errors.js';
import { Dataset, type DatasetVersion } from '../../../src/domain/workspace/dataset.js';
import { type DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import { addDataset, recordsOf, replaceDataset } from '../../support/datasets.js';
import { aDataset, aRecord, at, contentOf, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';
import { type VersionedRepository, versionsContract } from './versions.contract.js';

const versionedDatasets = (stock: StockedStore): VersionedRepository<Dataset> => {
  const { datasets, project, otherProject } = stock;
  const owner = (isOther = false) => (isOther ? otherProject : project);
  const add = async (over: Partial<Dataset> = {}, toOther = false, records = [aRecord()]) => {
    const dataset = aDataset(owner(toOther), records, over);
    await addDataset(stock, dataset, records);
    return dataset;
  };
  return {
    add,
    addWith: (json) => add({}, false, [aRecord({ input: json, expected: [json], fields: json })]),
    jsonOf: async ({ id }) => {
      const [record] = (await recordsOf(stock, id, 1)) as [DatasetRecord];
      return [record.input, (record.expected as unknown[])[0], record.fields];
    },
    odd: { name: 'Hauptstädte 🦆', updatedAt: at(0.001), forkedFrom: { datasetId: ids.next('dst'), version: 4 } },
    find: ({ id }, ofOther) => datasets.find(owner(ofOther).id, id),
    all: (page, ofOther) => datasets.all({ projectId: owner(ofOther).id }, page),
    next: (current, by) =>
      Dataset.update(current, [current.version], { name: by, content: contentOf([]), by, at: at(current.version) }),
    settled: (current) => ({ ...current, state: 'frozen', frozenAt: at(5) }),
    replace: (current, next) => replaceDataset(stock, current, next, next.version === current.version ? null : []),
    remove: (current) => datasets.remove(current),
    versions: (id, page) => datasets.versions(id, page),
    version: (id, version) => datasets.version(id, version),
    versionOf: (entity) => Dataset.versionOf(entity),
    entryOf: (version) => {
      const { bytes: _, validation: __, ...entry } = version as DatasetVersion;
      return entry;
    },
  };
};

export function datasetsContract(adapter: string, store: StoreUnderTest) {
  versionsContract(`Datasets in ${adapter}`, store, versionedDatasets);

  describe(`Datasets in ${adapter}`, () => {
    let stock: StockedStore;
    let datasets: StockedStore['datasets'];
    beforeEach(async () => {
      stock = await stocked(store);
      ({ datasets } = stock);
    });
    const add = async (records: DatasetRecord[]) => {
      const dataset = aDataset(stock.project, records);
      await addDataset(stock, dataset, records);
      return dataset;
    };
    const stored = (id: string, version: number) => recordsOf(stock, id, version);
    const updated = (dataset: Dataset, records: DatasetRecord[] | null) => {
      const content = records && contentOf(records);
      return Dataset.update(dataset, [dataset.version], {
        name: 'Next',
        content,
        by: 'usr_2',
        at: at(dataset.version),
      });
    };

    it('returns the records as they were added, and the findings about them', async () => {
      const records = [aRecord({ group: 'europe', fields: { difficulty: 3 } }), aRecord({ expected: null })];
      const dataset = await add(records);
      expect(await stored(dataset.id, 1)).toEqual(records);
      const { validation } = (await datasets.find(stock.project.id, dataset.id)) as Dataset;
      expect(validation).toMatchObject({ valid: false, findings: [{ code: 'empty_expected' }] });
      expect(await stored((await add([])).id, 1)).toEqual([]);
    });

    it('refuses a dataset of a project that does not exist', async () => {
      const dataset = aDataset({ ...stock.project, id: ids.next('prj') }, []);
      await expect(addDataset(stock, dataset, [])).rejects.toThrow(NotFound);
      expect(await stored(dataset.id, 1)).toBeNull();
    });

    it('keeps the records of each version; a version without new records has those of the version before', async () => {
      const [old, fresh] = [[aRecord()], [aRecord(), aRecord()]];
      const first = await add(old);
      const second = updated(first, fresh);
      const third = updated(second, null);
      const fourth = updated(third, null);
      await replaceDataset(stock, first, second, fresh);
      for (const [current, next] of [
        [second, third],
        [third, fourth],
      ] as const)
        expect(await replaceDataset(stock, current, next, null)).toBe(true);
      const records = await Promise.all([1, 2, 3, 4, 5].map((version) => stored(first.id, version)));
      expect(records).toEqual([old, fresh, fresh, fresh, null]);
    });

    it('prunes old versions, but no records that a newer version uses', async () => {
      const first = await add([aRecord()]);
      const fresh = [aRecord(), aRecord()];
      const second = updated(first, fresh);
      const third = updated(second, null);
      await replaceDataset(stock, first, second, fresh);
      await replaceDataset(stock, second, third, null);
      await datasets.prune(first.id, 3);
      await datasets.prune(first.id, 2); // does nothing: older versions are gone already
      expect(await stored(first.id, 3)).toEqual(fresh);
      for (const version of [1, 2]) {
        expect(await datasets.version(first.id, version)).toBeNull();
        expect(await stored(first.id, version)).toBeNull();
      }
    });

    it('stores no records if the version is not current', async () => {
      const first = await add([aRecord()]);
      await replaceDataset(stock, first, updated(first, null), null);
      expect(await replaceDataset(stock, first, { ...updated(first, []), version: 3 }, [])).toBe(false);
      expect(await stored(first.id, 3)).toBeNull();
    });
  });
}
