import { canonical } from '../../../src/domain/workspace/json.js';
import { Model } from '../../../src/domain/workspace/model.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aModel, aProject, aTeam, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';
import { specs } from './specs.js';

export function modelsContract(adapter: string, store: StoreUnderTest) {
  describe(`Models kept by ${adapter}`, () => {
    let models: Repositories['models'];
    let unitOfWork: Repositories['unitOfWork'];
    let project: Project;
    let otherProject: Project;

    beforeEach(async () => {
      const repositories = await store.open();
      ({ models, unitOfWork } = repositories);
      const team = aTeam();
      await repositories.teams.add(team);
      [project, otherProject] = [aProject(team), aProject(team)];
      for (const one of [project, otherProject]) await repositories.projects.add(one);
    });

    const kept = (over: Partial<Model> = {}): Promise<Model> => models.addOnce(aModel(project, over));
    const registered = (model: Model, seconds = 5) => Model.register(model, [model.version], at(seconds));

    it('gives back exactly the model that was added', async () => {
      const model = aModel(project, { version: 3, updatedAt: at(0.001), spec: { a: 1 }, requestedSpec: '{"a":1}' });
      expect(await models.addOnce(model)).toEqual(model);
      expect(await models.find(project.id, model.id)).toEqual(model);
    });

    it.each(specs)('keeps a spec as it is: %s', async (_, spec) => {
      const model = aModel(project, { spec, requestedSpec: canonical(spec) });
      for (const found of [await models.addOnce(model), await models.find(project.id, model.id)]) {
        expect(JSON.stringify(found?.spec)).toBe(JSON.stringify(spec));
        expect(found?.requestedSpec).toBe(model.requestedSpec);
      }
    });

    it('answers the stored model to a second one with the same request id, and adds none', async () => {
      const first = await kept({ requestedSpec: '{"first":true}' });
      const second = aModel(project, { requestId: first.requestId, requestedSpec: '{"second":true}' });
      expect(await models.addOnce(second)).toEqual(first);
      expect(await models.find(project.id, second.id)).toBeNull();
    });

    it('answers it as it is by now', async () => {
      const first = await kept();
      const next = registered(first);
      await models.replace(first, next);
      expect(await models.addOnce(aModel(project, { requestId: first.requestId }))).toEqual(next);
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

    it('finds nothing by an unknown id', async () => {
      const { id } = await kept();
      for (const other of ['', ids.next('mdl'), id.toUpperCase(), "' OR true --", 'x'.repeat(5_000)])
        expect(await models.find(project.id, other)).toBeNull();
    });

    it('finds no model of another project', async () => {
      const { id } = await kept();
      expect(await models.find(otherProject.id, id)).toBeNull();
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

    it('replaces none that is not there', async () => {
      const model = aModel(project);
      expect(await models.replace(model, registered(model))).toBe(false);
      expect(await models.find(project.id, model.id)).toBeNull();
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
