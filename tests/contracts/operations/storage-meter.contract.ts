import { StorageQuotas } from '../../../src/application/operations/storage-quotas.js';
import type { ServiceSettings } from '../../../src/application/shared/ports.js';
import type { Caller } from '../../../src/domain/accounts/caller.js';
import { Dataset } from '../../../src/domain/workspace/dataset.js';
import type { DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import { Model } from '../../../src/domain/workspace/model.js';
import { Project } from '../../../src/domain/workspace/project.js';
import { barrier, gate } from '../../support/barrier.js';
import { addDataset, replaceDataset } from '../../support/datasets.js';
import { aConversation, aDataset, aJob, aModel, aProject, aRecord, aTurn, at } from '../../support/records.js';
import { type Repositories, type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

const NAMES = ['projects', 'workspaceBytes', 'conversationBytes', 'externalJobs'] as const;

/** Returns a service that allows a team this number of projects. */
const quotasOf = ({ unitOfWork, storageMeter }: Repositories, projects: number) => {
  const most = Number.MAX_SAFE_INTEGER;
  const quotas = { projects, workspaceBytes: most, responseBytes: most };
  return new StorageQuotas(unitOfWork, storageMeter, { quotas } as unknown as ServiceSettings);
};

export function storageMeterContract(adapter: string, store: StoreUnderTest) {
  describe(`StorageMeter in ${adapter}`, () => {
    let stock: StockedStore;
    beforeEach(async () => {
      stock = await stocked(store);
    });

    const measured = (owner = { teamId: stock.team.id, accountId: stock.account.id }) =>
      stock.storageMeter.measure(owner, NAMES);
    /** Returns the change of an amount that `act` makes. */
    const change = async (name: (typeof NAMES)[number], act: () => Promise<unknown>) => {
      const before = await measured();
      await act();
      const after = await measured();
      for (const other of NAMES) if (other !== name) expect([other, after[other]]).toEqual([other, before[other]]);
      return after[name] - before[name];
    };
    const by = { by: 'usr_1', at: at(1) };
    const spec = { goal: 'Ü'.repeat(1_000) };
    const specLength = Buffer.byteLength(JSON.stringify(spec));

    it('counts projects and external jobs by team', async () => {
      expect(await measured()).toMatchObject({ projects: 2, externalJobs: 0 });
      const { team, otherTeam, jobs } = stock;
      await jobs.add([
        aJob({ kind: 'external', teamId: team.id }),
        aJob({ kind: 'external', teamId: otherTeam.id }),
        aJob({ kind: 'external', teamId: null }),
        aJob({ kind: 'evaluation', teamId: team.id }),
      ]);
      expect(await measured()).toMatchObject({ projects: 2, externalJobs: 1 });
      const others = await measured({ teamId: otherTeam.id, accountId: 'usr_1' });
      expect(others).toEqual({ projects: 0, workspaceBytes: 0, conversationBytes: 0, externalJobs: 1 });
      expect(await stock.storageMeter.measure({ teamId: null, accountId: null }, ['externalJobs'])).toEqual({
        externalJobs: 1,
      });
    });

    it('adds up all versions of the specs of projects and models, until they are removed', async () => {
      const { projects, models, project, account } = stock;
      const first = await measured();
      const next = Project.update(project, [], { spec, ...by });
      const updated = () => projects.replace(project, next);
      const added = await change('workspaceBytes', updated);
      expect(added).toBeGreaterThan(specLength);
      expect(added).toBeLessThan(specLength + 1_000);
      expect(await change('workspaceBytes', updated)).toBe(0); // the version is not current any more
      const model = aModel(project, { spec, createdBy: account.id });
      expect(await change('workspaceBytes', () => models.addOnce(model))).toBe(added);
      expect(await change('workspaceBytes', () => models.addOnce(model))).toBe(0);
      const version = Model.update(model, [], { spec, ...by });
      expect(await change('workspaceBytes', () => models.replace(model, version))).toBe(added);
      const registered = Model.register(version, [], at(2));
      expect(await change('workspaceBytes', () => models.replace(version, registered))).toBe(0);
      expect(await change('workspaceBytes', () => models.remove(registered))).toBe(-2 * added);
      await projects.remove(next);
      const left = await measured();
      expect(left.projects).toBe(1);
      expect(left.workspaceBytes).toBe(first.workspaceBytes / 2);
    });

    it('adds up the kept records of datasets, until they are pruned or removed', async () => {
      const { datasets, project } = stock;
      const records = [aRecord({ input: 'x'.repeat(5_000) })];
      const dataset = aDataset(project, records);
      const added = await change('workspaceBytes', () => addDataset(stock, dataset, records));
      expect(added).toBeGreaterThan(5_000);
      expect(added).toBeLessThan(6_000);
      const update = (current: Dataset, isNew: boolean) =>
        Dataset.update(current, [], { name: isNew ? 'other' : 'renamed', content: isNew ? dataset : null, ...by });
      const renamed = update(dataset, false);
      expect(await change('workspaceBytes', () => datasets.replace(dataset, renamed, null))).toBe(0);
      const shorter = update(renamed, true);
      const less = await change('workspaceBytes', () => replaceDataset(stock, renamed, shorter, []));
      expect(less).toBeGreaterThan(0);
      expect(less).toBeLessThan(1_000);
      expect(await change('workspaceBytes', () => datasets.prune(dataset.id, 2))).toBe(0); // version 2 has the records
      expect(await change('workspaceBytes', () => datasets.prune(dataset.id, 3))).toBe(-added);
      expect(await change('workspaceBytes', () => datasets.remove(shorter))).toBe(-less);
    });

    it('counts a record that several versions of a dataset share once', async () => {
      const { datasets, project } = stock;
      const records = [aRecord({ input: 'x'.repeat(5_000) }), aRecord({ input: 'y'.repeat(3_000) })];
      const dataset = aDataset(project, records);
      const added = await change('workspaceBytes', () => addDataset(stock, dataset, records));
      const next = Dataset.update(dataset, [], { content: dataset, ...by });
      const changed = [...records.slice(0, 1), { ...(records[1] as DatasetRecord), expected: 'z'.repeat(3_000) }];
      const more = await change('workspaceBytes', () => replaceDataset(stock, dataset, next, changed));
      expect(more).toBeGreaterThan(6_000);
      expect(more).toBeLessThan(7_000);
      const freed = await change('workspaceBytes', () => datasets.prune(dataset.id, 2));
      expect(freed).toBeLessThan(-3_000);
      expect(freed).toBeGreaterThan(-4_000);
      expect(await change('workspaceBytes', () => datasets.remove(next))).toBe(-(added + more + freed));
    });

    it('adds up the messages of an account’s conversations in all projects', async () => {
      const { conversations, project, otherProject, account, colleague } = stock;
      const turn = aTurn('Ü'.repeat(500));
      const length = Buffer.byteLength(turn.map(({ content }) => content).join(''));
      const begun = aConversation(project, account, turn);
      const added = await change('conversationBytes', () => conversations.add(begun, turn));
      expect(added).toBeGreaterThan(length);
      expect(added).toBeLessThan(length + 1_000);
      expect(await change('conversationBytes', () => conversations.append(begun, turn, at(1)))).toBe(added);
      const there = aConversation(otherProject, account, turn);
      expect(await change('conversationBytes', () => conversations.add(there, turn))).toBe(added);
      const theirs = aConversation(project, colleague, turn);
      expect(await change('conversationBytes', () => conversations.add(theirs, turn))).toBe(0);
      const { bytes } = await conversations.stored({ projectId: project.id, accountId: account.id });
      expect(bytes).toBe(3 * added);
      expect(await change('conversationBytes', () => conversations.remove(begun))).toBe(-2 * added);
    });

    it('is asked before the commit, so that writes of two instances exceed no quota together', async () => {
      const { team, account } = stock;
      const by = { kind: 'session', accountId: account.id, teamId: team.id } as Caller;
      const both = barrier(2);
      const results = await Promise.allSettled(
        [stock, await store.elsewhere()].map((one) =>
          quotasOf(one, 3).add(by, { projects: 1 }, async () => {
            await one.projects.add(aProject(team));
            await both();
          }),
        ),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(results).toContainEqual(
        expect.objectContaining({ reason: expect.objectContaining({ code: 'quota_exceeded' }) }),
      );
      expect(await measured()).toMatchObject({ projects: 3 });
    });

    it.each(['workspaceBytes', 'responseBytes'] as const)(
      'lets short writes of a team pass a long one of %s',
      async (name) => {
        const { team, account } = stock;
        const by = { kind: 'session', accountId: account.id, teamId: team.id } as Caller;
        const quotas = quotasOf(stock, 10);
        const [begun, end] = [gate(), gate()];
        const long = quotas.add(by, { [name]: 8_000_000 }, async () => {
          begun.open();
          await end.opened;
        });
        await begun.opened;
        for (const one of [quotas, quotasOf(await store.elsewhere(), 10)])
          await one.add(by, { projects: 1, [name]: 200 }, async () => undefined);
        end.open();
        await long;
      },
    );
  });
}
