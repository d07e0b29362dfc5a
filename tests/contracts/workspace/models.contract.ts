import { NotFound } from '../../../src/domain/shared/errors.js';
import { canonical } from '../../../src/domain/workspace/json.js';
import { Model, type ModelVersion } from '../../../src/domain/workspace/model.js';
import { race } from '../../support/barrier.js';
import { aModel, aProject, aTeam, at, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';
import { type VersionedRepository, versionsContract } from './versions.contract.js';

const registered = (model: Model, seconds = 5) => Model.register(model, [model.version], at(seconds));

const versionedModels = ({ models, project, otherProject }: StockedStore): VersionedRepository<Model> => {
  const owner = (isOther = false) => (isOther ? otherProject : project);
  return {
    add: (over, toOther) => models.addOnce(aModel(owner(toOther), over)),
    addWith: (spec) => models.addOnce(aModel(project, { spec, requestedSpec: canonical(spec) })),
    jsonOf: async ({ id }) => [(await models.find(project.id, id))?.spec, (await models.version(id, 1))?.spec],
    odd: {
      version: 3,
      updatedAt: at(0.001),
      requestedSpec: '{"a":1}',
      forkedFrom: { modelId: ids.next('mdl'), version: 3 },
      updatedBy: 'usr_2',
      createdBy: 'usr_3',
    },
    find: ({ id }, ofOther) => models.find(owner(ofOther).id, id),
    all: (page, ofOther) => models.all({ projectId: owner(ofOther).id }, page),
    sizes: (page) => models.sizes({ projectId: owner().id }, page),
    next: (current, by) => Model.update(current, [current.version], { spec: { by }, by, at: at(current.version) }),
    settled: registered,
    replace: (current, next) => models.replace(current, next),
    remove: (current) => models.remove(current),
    versions: (id, page) => models.versions(id, page),
    version: (id, version) => models.version(id, version),
    versionOf: (entity) => Model.versionOf(entity),
    entryOf: (version) => {
      const { spec: _, ...entry } = version as ModelVersion;
      return entry;
    },
  };
};

export function modelsContract(adapter: string, store: StoreUnderTest) {
  versionsContract(`Models in ${adapter}`, store, versionedModels);

  describe(`Models in ${adapter}`, () => {
    let stock: StockedStore;
    let models: StockedStore['models'];
    beforeEach(async () => {
      stock = await stocked(store);
      ({ models } = stock);
    });
    const add = (over: Partial<Model> = {}) => models.addOnce(aModel(stock.project, over));
    const all = () => models.all({ projectId: stock.project.id }, { limit: 9, after: null });

    it('adds one model for a project and a request id, and returns the stored model to later calls', async () => {
      const first = await add({ requestedSpec: '{"first":true}' });
      const again = { requestId: first.requestId, requestedSpec: '{"second":true}' };
      expect(await add(again)).toEqual(first);
      expect(await all()).toEqual([first]);
      const other = aModel(stock.otherProject, again);
      expect(await models.addOnce(other)).toEqual(other);
    });

    it.each(['outside of', 'inside'])(
      'adds one model for concurrent calls with one request id, %s units of work',
      async (where) => {
        const { requestId } = aModel(stock.project);
        const within = where === 'inside' ? (steps: () => Promise<Model>) => stock.unitOfWork.run(steps) : undefined;
        const answers = await race(12, all, () => add({ requestId }), within);
        const [added, ...more] = await all();
        expect(more).toEqual([]);
        expect(answers).toEqual(Array(12).fill(added));
      },
    );

    it('accepts the request id of a removed model again, also during the removal', async () => {
      const { requestId } = await add();
      for (let round = 0; round < 8; round++) {
        const known = await add({ requestId });
        const [, added] = await Promise.all([models.remove(known), add({ requestId })]);
        expect(await all()).toEqual(added.id === known.id ? [] : [added]);
      }
    });

    it('refuses a model of a project that does not exist', async () => {
      const orphan = aModel(aProject(aTeam()));
      await expect(models.addOnce(orphan)).rejects.toThrow(NotFound);
      expect(await models.find(orphan.projectId, orphan.id)).toBeNull();
    });

    it('lists the registered models of the given projects, newest first', async () => {
      const { project, otherProject } = stock;
      const [first, second, third] = [await add(), await add(), await add()];
      const other = await models.addOnce(aModel(otherProject));
      // The models are registered in another order than they were added.
      for (const model of [second, other, third]) await models.replace(model, registered(model));
      expect(await models.registered([project.id])).toEqual([registered(third), registered(second)]);
      await models.replace(first, registered(first, 99));
      const ofBoth = await models.registered([otherProject.id, project.id]);
      expect(ofBoth.map(({ id }) => id)).toEqual([other, third, second, first].map(({ id }) => id));
      const bytes = await models.registeredBytes([otherProject.id, project.id, ids.next('prj')]);
      expect([...bytes.keys()].sort()).toEqual([otherProject.id, project.id].sort());
      const least = JSON.stringify(first.spec).length;
      expect(bytes.get(otherProject.id)).toBeGreaterThanOrEqual(least);
      expect(bytes.get(project.id)).toBe(3 * (bytes.get(otherProject.id) ?? 0));
      expect((await models.registeredBytes([])).size).toBe(0);
      expect(await models.registered([ids.next('prj')])).toEqual([]);
      expect(await models.registered([])).toEqual([]);
    });
  });
}
