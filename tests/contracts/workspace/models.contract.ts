import { NotFound } from '../../../src/domain/shared/errors.js';
import { canonical, type JsonObject } from '../../../src/domain/workspace/json.js';
import { Model } from '../../../src/domain/workspace/model.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aModel, aProject, aTeam, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';
import { specs } from './specs.js';

export function modelsContract(adapter: string, store: StoreUnderTest) {
  describe(`Models kept by ${adapter}`, () => {
    let models: Repositories['models'];
    let projects: Repositories['projects'];
    let unitOfWork: Repositories['unitOfWork'];
    let project: Project;
    let otherProject: Project;

    beforeEach(async () => {
      const repositories = await store.open();
      ({ models, projects, unitOfWork } = repositories);
      const team = aTeam();
      await repositories.teams.add(team);
      [project, otherProject] = [aProject(team), aProject(team)];
      for (const one of [project, otherProject]) await projects.add(one);
    });

    const kept = (over: Partial<Model> = {}): Promise<Model> => models.addOnce(aModel(project, over));
    const updated = (model: Model, by = 'usr_2', spec: JsonObject = { by }) =>
      Model.update(model, [model.version], { spec, by, at: at(model.version) });
    const registered = (model: Model, seconds = 5) => Model.register(model, [model.version], at(seconds));

    it('gives back exactly the model that was added', async () => {
      const plain = aModel(project, { version: 3, updatedAt: at(0.001), spec: { a: 1 }, requestedSpec: '{"a":1}' });
      const forkedFrom = { modelId: plain.id, version: 3 };
      for (const model of [plain, aModel(project, { forkedFrom, updatedBy: 'usr_2', createdBy: 'usr_3' })]) {
        expect(await models.addOnce(model)).toEqual(model);
        expect(await models.find(project.id, model.id)).toEqual(model);
      }
    });

    it.each(specs)('keeps a spec as it is: %s', async (_, spec) => {
      const model = aModel(project, { spec, requestedSpec: canonical(spec) });
      for (const found of [await models.addOnce(model), await models.find(project.id, model.id)]) {
        expect(JSON.stringify(found?.spec)).toBe(JSON.stringify(spec));
        expect(found?.requestedSpec).toBe(model.requestedSpec);
      }
      await models.replace(model, updated(model, 'usr_2', { old: spec }));
      expect(JSON.stringify((await models.version(model.id, 1))?.spec)).toBe(JSON.stringify(spec));
      expect(JSON.stringify((await models.version(model.id, 2))?.spec)).toBe(JSON.stringify({ old: spec }));
    });

    it('answers the stored model to a second one with the same request id, and adds none', async () => {
      const first = await kept({ requestedSpec: '{"first":true}' });
      const second = aModel(project, { requestId: first.requestId, requestedSpec: '{"second":true}' });
      expect(await models.addOnce(second)).toEqual(first);
      expect(await models.find(project.id, second.id)).toBeNull();
    });

    it('adds none to a project that is gone', async () => {
      const orphan = aModel(aProject(aTeam()));
      await expect(models.addOnce(orphan)).rejects.toThrow(NotFound);
      expect(await models.find(orphan.projectId, orphan.id)).toBeNull();
    });

    it('adds to another project with the same request id', async () => {
      const { requestId } = await kept();
      const other = aModel(otherProject, { requestId });
      expect(await models.addOnce(other)).toEqual(other);
    });

    it.each(['outside of', 'inside'])(
      'adds one of many with the same request id at once, %s units of work',
      async (where) => {
        const parties = 16;
        const { requestId } = aModel(project);
        const contenders = Array.from({ length: parties }, () => aModel(project, { requestId }));
        const allAreThere = barrier(parties);
        const answers = await atOnce(parties, (party) => {
          const adds = async () => {
            await models.find(project.id, (contenders[party] as Model).id);
            await allAreThere();
            return models.addOnce(contenders[party] as Model);
          };
          return where === 'inside' ? unitOfWork.run(adds) : adds();
        });
        const found = await Promise.all(contenders.map(({ id }) => models.find(project.id, id)));
        const added = found.filter((model) => model !== null);
        expect(added).toHaveLength(1);
        expect(answers).toEqual(Array(parties).fill(added[0]));
      },
    );

    it('finds no model of another project', async () => {
      const { id } = await kept();
      expect(await models.find(otherProject.id, id)).toBeNull();
    });

    it('lists the models of a project by the page, newest first', async () => {
      const made = [await kept(), await kept(), await kept(), await kept()];
      await models.addOnce(aModel(otherProject));
      const next = registered(made[1] as Model);
      await models.replace(made[1] as Model, next);
      const [first, , third, fourth] = made as [Model, Model, Model, Model];
      const newest = [fourth, third, next, first];
      expect(await models.all(project.id, { limit: 9, after: null })).toEqual(newest);
      expect(await models.all(project.id, { limit: 3, after: null })).toEqual(newest.slice(0, 3));
      expect(await models.all(project.id, { limit: 2, after: fourth.id })).toEqual([third, next]);
      expect(await models.all(project.id, { limit: 9, after: first.id })).toEqual([]);
      expect(await models.all(ids.next('prj'), { limit: 9, after: null })).toEqual([]);
    });

    it('lists the registered models of the projects named, newest first', async () => {
      const [first, second, third] = [await kept(), await kept(), await kept()];
      const other = await models.addOnce(aModel(otherProject));
      // Registered in another order than they were made in.
      for (const model of [second, other, third]) await models.replace(model, registered(model));
      expect(await models.registered([project.id])).toEqual([registered(third), registered(second)]);
      const ofBoth = await models.registered([otherProject.id, project.id]);
      expect(ofBoth).toEqual([registered(other), registered(third), registered(second)]);
      await models.replace(first, registered(first, 99));
      expect((await models.registered([project.id])).map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
      expect(await models.registered([ids.next('prj')])).toEqual([]);
      expect(await models.registered([])).toEqual([]);
    });

    it('replaces a model, and no other', async () => {
      const [model, other] = [await kept(), await kept()];
      const next: Model = { ...model, version: 2, spec: { a: [1] }, updatedAt: at(4) };
      expect(await models.replace(model, next)).toBe(true);
      expect(await models.find(project.id, model.id)).toEqual(next);
      expect(await models.find(project.id, other.id)).toEqual(other);
    });

    it('writes nothing over another version or another state', async () => {
      const model = await kept();
      const second: Model = { ...model, version: 2 };
      await models.replace(model, second);
      expect(await models.replace(model, { ...model, spec: { stale: true } })).toBe(false);
      const frozen = registered(second);
      await models.replace(second, frozen);
      expect(await models.replace(second, { ...second, spec: { stale: true } })).toBe(false);
      expect(await models.find(project.id, model.id)).toEqual(frozen);
    });

    it('keeps every version as it was, with who made it and when', async () => {
      const [first, other] = [await kept(), await kept()];
      const second = updated(first);
      const third = updated(second, 'usr_3');
      await models.replace(first, second);
      await models.replace(second, third);
      await models.replace(third, registered(third, 99)); // leaves the version
      const rows = [third, second, first].map(({ id, version, spec, updatedBy, updatedAt }) => ({
        modelId: id,
        version,
        spec,
        createdBy: updatedBy,
        createdAt: updatedAt,
      }));
      const listed = rows.map(({ spec: _, ...row }) => row);
      expect(await models.versions(first.id, { limit: 9, before: null })).toEqual(listed);
      expect(await models.versions(first.id, { limit: 2, before: null })).toEqual(listed.slice(0, 2));
      expect(await models.versions(first.id, { limit: 1, before: 3 })).toEqual(listed.slice(1, 2));
      expect(await models.versions(first.id, { limit: 9, before: 1 })).toEqual([]);
      for (const row of rows) expect(await models.version(first.id, row.version)).toEqual(row);
      expect(await models.version(first.id, 4)).toBeNull();
      expect(await models.versions(other.id, { limit: 9, before: null })).toHaveLength(1);
      expect(await models.versions(ids.next('mdl'), { limit: 9, before: null })).toEqual([]);
    });

    it('removes a model with its versions, and no other', async () => {
      const [model, other] = [await kept(), await kept()];
      const next = updated(model);
      await models.replace(model, next);
      expect(await models.remove(next)).toBe(true);
      expect(await models.find(project.id, model.id)).toBeNull();
      expect(await models.versions(model.id, { limit: 9, before: null })).toEqual([]);
      expect(await models.version(model.id, 1)).toBeNull();
      expect(await models.all(project.id, { limit: 9, after: null })).toEqual([other]);
      expect(await models.remove(next)).toBe(false);
    });

    it('removes none in another version or another state', async () => {
      const model = await kept();
      const next = updated(model);
      await models.replace(model, next);
      expect(await models.remove(model)).toBe(false);
      const frozen = registered(next);
      await models.replace(next, frozen);
      expect(await models.remove(next)).toBe(false);
      expect(await models.find(project.id, model.id)).toEqual(frozen);
      expect(await models.versions(model.id, { limit: 9, before: null })).toHaveLength(2);
    });

    it('takes the request id of a removed model again, also at the same moment', async () => {
      const requestId = (await kept()).requestId;
      for (let round = 0; round < 8; round++) {
        const known = await models.addOnce(aModel(project, { requestId }));
        const [, added] = await Promise.all([models.remove(known), models.addOnce(aModel(project, { requestId }))]);
        const left = await models.all(project.id, { limit: 9, after: null });
        expect(left).toEqual(added.id === known.id ? [] : [added]);
      }
    });

    it('loses its models and their versions with a project', async () => {
      const [model, other] = [await kept(), await models.addOnce(aModel(otherProject))];
      await models.replace(model, registered(model));
      await projects.remove(project);
      expect(await models.all(project.id, { limit: 9, after: null })).toEqual([]);
      expect(await models.find(project.id, model.id)).toBeNull();
      expect(await models.version(model.id, 1)).toBeNull();
      expect(await models.find(otherProject.id, other.id)).toEqual(other);
    });

    it.each<[string, (model: Model, party: number) => Model]>([
      ['a next version', (model, party) => ({ ...model, version: 2, spec: { written_by: party } })],
      ['a registration', (model, party) => registered(model, party)],
    ])('lets one of many replace that have all read the same: %s', async (_, change) => {
      const parties = 8;
      const { id } = await kept();
      const allHaveRead = barrier(parties);
      const contenders = await atOnce(parties, async (party) => {
        const current = (await models.find(project.id, id)) as Model;
        await allHaveRead();
        const next = change(current, party);
        return { next, replaced: await models.replace(current, next) };
      });
      const winners = contenders.filter(({ replaced }) => replaced);
      expect(winners).toHaveLength(1);
      expect(await models.find(project.id, id)).toEqual(winners[0]?.next);
    });
  });
}
