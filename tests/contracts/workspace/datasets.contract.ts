import { NotFound } from '../../../src/domain/shared/errors.js';
import { Dataset, type DatasetRecord } from '../../../src/domain/workspace/dataset.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aDataset, aProject, aRecord, aTeam, at, contentOf, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';
import { specs } from './specs.js';

export function datasetsContract(adapter: string, store: StoreUnderTest) {
  describe(`Datasets kept by ${adapter}`, () => {
    let datasets: Repositories['datasets'];
    let projects: Repositories['projects'];
    let project: Project;
    let otherProject: Project;

    beforeEach(async () => {
      const repositories = await store.open();
      ({ datasets, projects } = repositories);
      const team = aTeam();
      await repositories.teams.add(team);
      [project, otherProject] = [aProject(team), aProject(team)];
      for (const one of [project, otherProject]) await projects.add(one);
    });

    const kept = async (over: Partial<Dataset> = {}, records = [aRecord()]): Promise<Dataset> => {
      const dataset = aDataset(project, records, over);
      await datasets.add(dataset, records);
      return dataset;
    };
    const updated = (dataset: Dataset, change: { name?: string; records?: readonly DatasetRecord[] }, by = 'usr_2') => {
      const content = change.records ? contentOf(change.records) : null;
      return Dataset.update(dataset, [dataset.version], { ...change, content, by, at: at(dataset.version) });
    };
    const frozen = (dataset: Dataset, seconds = 5) => Dataset.freeze(dataset, [], at(seconds));
    const everything = { limit: 100, before: null };

    it('gives back exactly the dataset and the records that were added', async () => {
      const records = [aRecord({ group: 'europe', fields: { difficulty: 3 } }), aRecord({ expected: null })];
      const dataset = await kept(
        { name: 'Hauptstädte 🦆', updatedAt: at(0.001), forkedFrom: { datasetId: ids.next('dst'), version: 4 } },
        records,
      );
      expect(dataset.validation).toMatchObject({ valid: false, findings: [{ code: 'empty_expected' }] });
      expect(await datasets.find(project.id, dataset.id)).toEqual(dataset);
      expect(await datasets.records(dataset.id, 1)).toEqual(records);
      expect(await datasets.find(project.id, (await kept({}, [])).id)).toMatchObject({ recordCount: 0 });
    });

    it.each(specs)('keeps records as they are: %s', async (_, value) => {
      const records = [aRecord({ input: value, expected: [value], fields: value })];
      const { id } = await kept({}, records);
      expect(JSON.stringify(await datasets.records(id, 1))).toBe(JSON.stringify(records));
    });

    it('adds none to a project that is gone', async () => {
      const gone = { ...project, id: ids.next('prj') };
      const dataset = aDataset(gone, []);
      await expect(datasets.add(dataset, [])).rejects.toThrow(NotFound);
      expect(await datasets.find(gone.id, dataset.id)).toBeNull();
      expect(await datasets.records(dataset.id, 1)).toBeNull();
    });

    it('lists the datasets of a project, newest first, a page at a time', async () => {
      const [first, second, third] = [await kept(), await kept(), await kept()];
      const other = aDataset(otherProject, []);
      await datasets.add(other, []);
      expect(await datasets.all(project.id, { limit: 9, after: null })).toEqual([third, second, first]);
      expect(await datasets.all(project.id, { limit: 2, after: null })).toEqual([third, second]);
      expect(await datasets.all(project.id, { limit: 2, after: second.id })).toEqual([first]);
      expect(await datasets.all(project.id, { limit: 2, after: first.id })).toEqual([]);
    });

    it('replaces a dataset, and no other, and keeps every version with its records', async () => {
      const [first, other] = [await kept({}, [aRecord()]), await kept()];
      const before = await datasets.records(first.id, 1);
      const records = [aRecord(), aRecord()];
      const second = updated(first, { records, name: 'Second' });
      expect(await datasets.replace(first, second, records)).toBe(true);
      expect(await datasets.find(project.id, first.id)).toEqual(second);
      expect(await datasets.records(first.id, 2)).toEqual(records);
      expect(await datasets.records(first.id, 1)).toEqual(before);
      expect(await datasets.records(first.id, 3)).toBeNull();
      expect(await datasets.find(project.id, other.id)).toEqual(other);
    });

    it('gives a version without records of its own those of the version before', async () => {
      const first = await kept();
      const records = [aRecord(), aRecord()];
      const second = updated(first, { records });
      await datasets.replace(first, second, records);
      const third = updated(second, { name: 'Third' });
      await datasets.replace(second, third, null);
      const fourth = updated(third, { name: 'Fourth' });
      expect(await datasets.replace(third, fourth, null)).toBe(true);
      for (const version of [2, 3, 4]) expect(await datasets.records(first.id, version)).toEqual(records);
    });

    it('tells of each version what it was, and who made it when', async () => {
      const first = await kept();
      const second = updated(first, { name: 'Second' }, 'usr_7');
      await datasets.replace(first, second, null);
      const third = updated(second, { records: [] }, 'usr_8');
      await datasets.replace(second, third, []);
      await datasets.replace(third, { ...third, state: 'frozen', frozenAt: at(9) }, null);
      const versions = [third, second, first].map((one) => ({
        datasetId: one.id,
        version: one.version,
        name: one.name,
        recordCount: one.recordCount,
        contentSha256: one.contentSha256,
        validation: one.validation,
        createdBy: one.updatedBy,
        createdAt: one.updatedAt,
      }));
      expect(versions.map(({ createdBy }) => createdBy)).toEqual(['usr_8', 'usr_7', 'usr_1']);
      const entries = versions.map(({ validation: _, ...entry }) => entry);
      expect(await datasets.versions(first.id, everything)).toEqual(entries);
      expect(await datasets.versions(first.id, { limit: 1, before: null })).toEqual(entries.slice(0, 1));
      expect(await datasets.versions(first.id, { limit: 9, before: 3 })).toEqual(entries.slice(1));
      expect(await datasets.version(first.id, 2)).toEqual(versions[1]);
      expect(await datasets.version(first.id, 4)).toBeNull();
      expect(await datasets.version(ids.next('dst'), 1)).toBeNull();
    });

    it('writes nothing over another version or another state', async () => {
      const first = await kept();
      const second = updated(first, { name: 'Second' });
      await datasets.replace(first, second, null);
      expect(await datasets.replace(first, updated(first, { name: 'Stale', records: [] }), [])).toBe(false);
      const done = frozen(second);
      expect(await datasets.replace(second, done, null)).toBe(true);
      expect(await datasets.replace(second, updated(second, { name: 'Late', records: [] }), [])).toBe(false);
      expect(await datasets.replace(second, frozen(second, 99), null)).toBe(false);
      expect(await datasets.find(project.id, first.id)).toEqual(done);
      expect(await datasets.records(first.id, 3)).toBeNull();
      expect(await datasets.versions(first.id, everything)).toHaveLength(2);
    });

    it('removes an editable dataset with its history, and no other', async () => {
      const [dataset, other] = [await kept(), await kept()];
      expect(await datasets.remove(dataset)).toBe(true);
      expect(await datasets.remove(dataset)).toBe(false);
      expect(await datasets.find(project.id, dataset.id)).toBeNull();
      expect(await datasets.records(dataset.id, 1)).toBeNull();
      expect(await datasets.versions(dataset.id, everything)).toEqual([]);
      expect(await datasets.find(project.id, other.id)).toEqual(other);
      expect(await datasets.records(other.id, 1)).toHaveLength(1);
    });

    it('removes none that has changed, or is frozen', async () => {
      const first = await kept();
      const second = updated(first, { name: 'Second' });
      await datasets.replace(first, second, null);
      expect(await datasets.remove(first)).toBe(false);
      const done = frozen(second);
      await datasets.replace(second, done, null);
      for (const current of [second, done]) expect(await datasets.remove(current)).toBe(false);
      expect(await datasets.find(project.id, first.id)).toEqual(done);
    });

    it('has no dataset left of a project that is removed, frozen or not', async () => {
      const editable = await kept();
      const done = frozen(await kept());
      await datasets.replace({ ...done, state: 'editable' }, done, null);
      const other = aDataset(otherProject, []);
      await datasets.add(other, []);
      expect(await projects.remove(project)).toBe(true);
      for (const { id } of [editable, done]) {
        expect(await datasets.find(project.id, id)).toBeNull();
        expect(await datasets.records(id, 1)).toBeNull();
        expect(await datasets.versions(id, everything)).toEqual([]);
      }
      expect(await datasets.find(otherProject.id, other.id)).toEqual(other);
    });

    it.each<[string, (current: Dataset, party: number) => Promise<boolean>]>([
      [
        'next versions',
        (current, party) => datasets.replace(current, updated(current, { name: `by ${party}`, records: [] }), []),
      ],
      ['freezes', (current, party) => datasets.replace(current, frozen(current, party), null)],
      [
        'next versions, freezes and removals',
        (current, party) =>
          [
            () => datasets.replace(current, updated(current, { name: `by ${party}` }), null),
            () => datasets.replace(current, frozen(current), null),
            () => datasets.remove(current),
          ][party % 3]?.() ?? Promise.resolve(false),
      ],
    ])('lets one of many win that have all read the same: %s', async (_, act) => {
      const parties = 9;
      const { id } = await kept();
      const allHaveRead = barrier(parties);
      const outcomes = await atOnce(parties, async (party) => {
        const current = (await datasets.find(project.id, id)) as Dataset;
        await allHaveRead();
        return act(current, party);
      });
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      const now = await datasets.find(project.id, id);
      const versions = await datasets.versions(id, everything);
      expect(versions.map(({ version }) => version)).toEqual(now ? [2, 1].slice(2 - now.version) : []);
    });
  });
}
