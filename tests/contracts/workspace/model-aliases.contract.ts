import { NotFound } from '../../../src/domain/shared/errors.js';
import type { Model } from '../../../src/domain/workspace/model.js';
import type { AliasChange } from '../../../src/domain/workspace/model-alias.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { race } from '../../support/barrier.js';
import { aModel, at, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

export function modelAliasesContract(adapter: string, store: StoreUnderTest) {
  describe(`ModelAliases in ${adapter}`, () => {
    let stock: StockedStore;
    let aliases: StockedStore['modelAliases'];
    let project: Project;
    let otherProject: Project;
    let model: Model;

    beforeEach(async () => {
      stock = await stocked(store);
      ({ modelAliases: aliases, project, otherProject } = stock);
      model = await stock.models.addOnce(aModel(project));
    });

    const change = (version: number, over: Partial<AliasChange> = {}): AliasChange => ({
      projectId: project.id,
      alias: 'champion',
      version,
      modelId: model.id,
      changedBy: 'usr_1',
      changedAt: at(version),
      ...over,
    });
    const add = async (...changes: AliasChange[]) => {
      for (const one of changes) expect(await aliases.append(one)).toBe(true);
    };
    const history = (alias = 'champion', most = 100) => aliases.history(project.id, alias, most);

    it('returns the changes exactly as they were appended, newest first', async () => {
      const changes = [change(1), change(2, { modelId: null, changedBy: 'usr_2', changedAt: at(0.001) }), change(3)];
      await add(...changes);
      expect(await history()).toEqual(changes.toReversed());
      expect(await history('champion', 2)).toEqual(changes.toReversed().slice(0, 2));
    });

    it('distinguishes aliases by every character and by project', async () => {
      const names = ['champion', 'Champion', 'champion.', 'c', '0', 'constructor', 'x'.repeat(64)];
      const changes = names.map((alias) => change(1, { alias }));
      await add(...changes, change(1, { projectId: otherProject.id, changedBy: 'usr_9' }));
      for (const one of changes) expect(await history(one.alias)).toEqual([one]);
      for (const unknown of ['', 'champio', 'CHAMPION', "' OR true --", '%'])
        expect(await history(unknown)).toEqual([]);
      expect(await aliases.history(ids.next('prj'), 'champion', 9)).toEqual([]);
    });

    it('does not replace a stored version', async () => {
      await add(change(1), change(2));
      expect(await aliases.append(change(1, { modelId: null }))).toBe(false);
      expect(await aliases.append(change(2, { modelId: null }))).toBe(false);
      expect(await history()).toEqual([change(2), change(1)]);
    });

    it('refuses a change if the project or the model does not exist', async () => {
      await expect(aliases.append(change(1, { projectId: ids.next('prj') }))).rejects.toThrow(NotFound);
      await expect(aliases.append(change(1, { modelId: ids.next('mdl') }))).rejects.toThrow(NotFound);
      expect(await history()).toEqual([]);
    });

    it.each(['outside of', 'inside'])('lets one of several concurrent changes win, %s units of work', async (where) => {
      await add(change(1));
      const written = await race(
        8,
        () => history(),
        (_, party) => aliases.append(change(2, { changedBy: `usr_${party}` })),
        where === 'inside' ? (steps) => stock.unitOfWork.run(steps) : undefined,
      );
      expect(written.filter(Boolean)).toHaveLength(1);
      expect(await history()).toEqual([change(2, { changedBy: `usr_${written.indexOf(true)}` }), change(1)]);
    });

    it('lists the aliases that point to a model, the last changed first', async () => {
      const old = change(1, { alias: 'old', changedAt: at(1) });
      const moved = [change(1), change(2, { changedAt: at(9) })];
      const gone = [change(1, { alias: 'gone' }), change(2, { alias: 'gone', modelId: null })];
      const back = [...gone.map((one) => ({ ...one, alias: 'back' })), change(3, { alias: 'back', changedAt: at(5) })];
      const same = ['b', 'a'].map((alias) => change(1, { alias, changedAt: at(1) }));
      await add(old, ...moved, ...gone, ...back, ...same, change(7, { projectId: otherProject.id, alias: 'old' }));
      const names = (await aliases.living(project.id)).map(({ alias }) => alias);
      expect(names).toEqual(['champion', 'back', 'a', 'b', 'old']);
      expect((await aliases.living(project.id)).slice(0, 2)).toEqual([moved[1], back[2]]);
      expect(await aliases.living(ids.next('prj'))).toEqual([]);
    });
  });
}
