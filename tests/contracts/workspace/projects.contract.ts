import { Project, type ProjectVersion } from '../../../src/domain/workspace/project.js';
import { addDataset, recordsOf } from '../../support/datasets.js';
import {
  aConnection,
  aConversation,
  aDataset,
  aModel,
  anEvaluation,
  aProject,
  aRecord,
  aTeam,
  aTurn,
  at,
  ids,
} from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';
import { type VersionedRepository, versionsContract } from './versions.contract.js';

const versionedProjects = async ({ projects, teams }: StockedStore): Promise<VersionedRepository<Project>> => {
  const [team, otherTeam] = [aTeam(), aTeam()];
  for (const one of [team, otherTeam]) await teams.add(one);
  const add = async (over: Partial<Project> = {}, toOther = false) => {
    const added = aProject(toOther ? otherTeam : team, over);
    await projects.add(added);
    return added;
  };
  const owner = (isOther = false) => (isOther ? otherTeam : team).id;
  return {
    add,
    addWith: (spec) => add({ spec }),
    jsonOf: async ({ id }) => [(await projects.find(team.id, id))?.spec, (await projects.version(id, 1))?.spec],
    odd: { name: 'Hauptstädte 🦆', version: 7, reviewedVersion: 6, updatedAt: at(0.001) },
    find: ({ id }, ofOther) => projects.find(owner(ofOther), id),
    all: (page, ofOther) => projects.all({ teamId: owner(ofOther) }, page),
    sizes: (page) => projects.sizes({ teamId: owner() }, page),
    next: (current, by) =>
      Project.update(current, [current.version], { name: by, spec: { by }, by, at: at(current.version) }),
    replace: (current, next) => projects.replace(current, next),
    remove: (current) => projects.remove(current),
    versions: (id, page) => projects.versions(id, page),
    version: (id, version) => projects.version(id, version),
    versionOf: (entity) => Project.versionOf(entity),
    entryOf: (version) => {
      const { spec: _, ...entry } = version as ProjectVersion;
      return entry;
    },
  };
};

export function projectsContract(adapter: string, store: StoreUnderTest) {
  versionsContract(`Projects in ${adapter}`, store, versionedProjects);

  describe(`Projects in ${adapter}`, () => {
    let stock: StockedStore;
    let projects: StockedStore['projects'];
    let project: Project;
    beforeEach(async () => {
      stock = await stocked(store);
      ({ projects, project } = stock);
    });

    it('returns the names of the newest projects of a team, newest first', async () => {
      const named = [stock.otherProject, project].map(({ id, name }) => ({ id, name }));
      await projects.add(aProject(stock.otherTeam));
      expect(await projects.names(stock.team.id, 9)).toEqual(named);
      expect(await projects.names(stock.team.id, 1)).toEqual(named.slice(0, 1));
      expect(await projects.names(ids.next('tea'), 9)).toEqual([]);
    });

    it('stores the reviewed version only if the stored project still has the given version', async () => {
      const find = () => projects.find(stock.team.id, project.id);
      const next = Project.update(project, [1], { name: 'Next', spec: {}, by: 'usr_2', at: at(9) });
      expect(await projects.noteReview({ ...project, reviewedVersion: 1 })).toBe(true);
      expect(await find()).toEqual({ ...project, reviewedVersion: 1 });
      await projects.replace(project, next);
      expect(await projects.noteReview({ ...project, reviewedVersion: null })).toBe(false);
      expect(await find()).toEqual({ ...next, reviewedVersion: 1 });
      expect(await projects.noteReview({ ...next, reviewedVersion: null })).toBe(true);
      expect((await find())?.reviewedVersion).toBeNull();
    });

    it('removes a project with everything in it, and nothing of another project', async () => {
      const { account, otherProject, models, modelAliases, datasets, conversations, connections, evaluations } = stock;
      const left = async ({ id: projectId }: Project) => {
        const page = { limit: 9, after: null };
        const lists = [
          await models.all({ projectId }, page),
          await modelAliases.history(projectId, 'champion', 9),
          await datasets.all({ projectId }, page),
          await conversations.list({ projectId, accountId: account.id }, page),
          [await connections.find(projectId)].filter(Boolean),
        ];
        return lists.map(({ length }) => length);
      };
      const fill = async (one: Project) => {
        const model = await models.addOnce(aModel(one));
        const change = { projectId: one.id, alias: 'champion', version: 1, modelId: model.id };
        await modelAliases.append({ ...change, changedBy: 'usr_1', changedAt: at(1) });
        const [dataset, conversation] = [aDataset(one, [aRecord()]), aConversation(one, account)];
        await addDataset(stock, { ...dataset, state: 'frozen', frozenAt: at(2) }, [aRecord()]);
        await conversations.add(conversation, aTurn());
        await connections.save(aConnection({ projectId: one.id, modelId: model.id, desired: 'started' }));
        const evaluation = anEvaluation(one);
        await evaluations.add(evaluation);
        return async () => [
          await models.version(model.id, 1),
          await recordsOf(stock, dataset.id, 1),
          (await conversations.messages(conversation.id, { limit: 1, before: null }))[0] ?? null,
          await evaluations.find(evaluation.jobId),
        ];
      };
      const [parts, otherParts] = [await fill(project), await fill(otherProject)];
      expect(await projects.remove(project)).toBe(true);
      expect([await left(project), await left(otherProject)]).toEqual([Array(5).fill(0), Array(5).fill(1)]);
      expect(await parts()).toEqual([null, null, null, null]);
      expect(await otherParts()).not.toContain(null);
    });
  });
}
