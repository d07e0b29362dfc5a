import type { Team } from '../../../src/domain/accounts/account.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { Project } from '../../../src/domain/workspace/project.js';
import { atOnce, barrier } from '../../support/barrier.js';
import { aProject, aTeam, at, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';
import { specs } from './specs.js';

export function projectsContract(adapter: string, store: StoreUnderTest) {
  describe(`Projects kept by ${adapter}`, () => {
    let projects: Repositories['projects'];
    let team: Team;
    let otherTeam: Team;

    beforeEach(async () => {
      const repositories = await store.open();
      ({ projects } = repositories);
      [team, otherTeam] = [aTeam({ operator: true }), aTeam()];
      for (const one of [team, otherTeam]) await repositories.teams.add(one);
    });

    const kept = async (over: Partial<Project> = {}): Promise<Project> => {
      const project = aProject(team, over);
      await projects.add(project);
      return project;
    };
    const updated = (project: Project, spec: JsonObject = { goal: 'next' }) =>
      Project.update(project, [project.version], { name: 'Next', spec, by: 'usr_2', at: at(9) });

    it('gives back exactly the project that was added', async () => {
      const plain = await kept();
      const reviewed = await kept({
        name: 'Hauptstädte 🦆',
        version: 7,
        reviewedVersion: 6,
        updatedAt: at(0.001),
      });
      expect(await projects.find(team.id, plain.id)).toEqual(plain);
      expect(await projects.find(team.id, reviewed.id)).toEqual(reviewed);
      expect(await projects.find(team.id, ids.next('prj'))).toBeNull();
    });

    it.each(specs)('keeps a spec as it is: %s', async (_, spec) => {
      const { id } = await kept({ spec });
      const found = await projects.find(team.id, id);
      expect(JSON.stringify(found?.spec)).toBe(JSON.stringify(spec));
    });

    it('finds no project of another team', async () => {
      const { id } = await kept();
      expect(await projects.find(otherTeam.id, id)).toBeNull();
      expect(await projects.find('', id)).toBeNull();
    });

    it('replaces a project, and no other', async () => {
      const [project, other] = [await kept(), await kept()];
      const next = updated(project);
      expect(await projects.replace(project, next)).toBe(true);
      expect(await projects.find(team.id, project.id)).toEqual(next);
      expect(await projects.find(team.id, other.id)).toEqual(other);
    });

    it('writes nothing over a version that is not the current one', async () => {
      const project = await kept();
      const second = updated(project);
      await projects.replace(project, second);
      expect(await projects.replace(project, { ...second, name: 'Stale' })).toBe(false);
      const unborn = { ...second, version: second.version + 1 };
      expect(await projects.replace(unborn, { ...unborn, name: 'Too soon' })).toBe(false);
      expect(await projects.find(team.id, project.id)).toEqual(second);
    });

    it('lets one of many replace that have all read the same', async () => {
      const parties = 8;
      const { id } = await kept();
      const allHaveRead = barrier(parties);
      const contenders = await atOnce(parties, async (party) => {
        const current = (await projects.find(team.id, id)) as Project;
        await allHaveRead();
        const next = updated(current, { written_by: party });
        return { next, replaced: await projects.replace(current, next) };
      });
      const winners = contenders.filter(({ replaced }) => replaced);
      expect(winners).toHaveLength(1);
      expect(await projects.find(team.id, id)).toEqual(winners[0]?.next);
    });

    it('names the newest projects of a team, newest first', async () => {
      const [first, second, third] = [await kept({ name: 'One' }), await kept(), await kept({ name: 'Three' })];
      await projects.add(aProject(otherTeam));
      const named = (some: Project[]) => some.map(({ id, name }) => ({ id, name }));
      expect(await projects.names(team.id, 9)).toEqual(named([third, second, first]));
      expect(await projects.names(team.id, 2)).toEqual(named([third, second]));
      expect(await projects.names(ids.next('tea'), 9)).toEqual([]);
    });

    it('lists the projects of a team, newest first, a page at a time', async () => {
      const [first, second, third] = [await kept(), await kept(), await kept()];
      const theirs = aProject(otherTeam);
      await projects.add(theirs);
      expect(await projects.all(team.id, { limit: 9, after: null })).toEqual([third, second, first]);
      expect(await projects.all(team.id, { limit: 2, after: null })).toEqual([third, second]);
      expect(await projects.all(team.id, { limit: 2, after: second.id })).toEqual([first]);
      expect(await projects.all(otherTeam.id, { limit: 9, after: null })).toEqual([theirs]);
    });

    it('keeps what a review found of the version that it looked at', async () => {
      const project = await kept();
      expect(await projects.noteReview({ ...project, reviewedVersion: 1 })).toBe(true);
      expect(await projects.find(team.id, project.id)).toEqual({ ...project, reviewedVersion: 1 });
      await projects.replace(project, updated(project));
      expect(await projects.noteReview({ ...project, reviewedVersion: null })).toBe(false);
      expect(await projects.find(team.id, project.id)).toEqual({ ...updated(project), reviewedVersion: 1 });
      expect(await projects.noteReview({ ...updated(project), reviewedVersion: null })).toBe(true);
      expect((await projects.find(team.id, project.id))?.reviewedVersion).toBeNull();
    });

    it('keeps every version, with who made it and when', async () => {
      const first = await kept({ name: 'First', spec: parsed('{"b":1,"a":[null]}') });
      const second = updated(first);
      const third = Project.update(second, [2], { spec: {}, by: 'usr_3', at: at(20) });
      await projects.replace(first, second);
      await projects.replace(first, { ...second, name: 'Lost' });
      await projects.noteReview({ ...second, reviewedVersion: 2 });
      await projects.replace(second, third);
      await kept();
      const { id } = first;
      const entries = [third, second, first].map(({ version, name, updatedBy, updatedAt }) => ({
        version,
        name,
        createdBy: updatedBy,
        createdAt: updatedAt,
      }));
      expect(await projects.versions(id, { limit: 9, before: null })).toEqual(entries);
      expect(await projects.versions(id, { limit: 1, before: 3 })).toEqual([entries[1]]);
      for (const { version, spec } of [first, second, third]) {
        const found = await projects.version(id, version);
        expect(found).toEqual({ ...entries[3 - version], spec });
        expect(JSON.stringify(found?.spec)).toBe(JSON.stringify(spec));
      }
      expect(await projects.version(id, 4)).toBeNull();
      expect(await projects.version(ids.next('prj'), 1)).toBeNull();
    });

    it('removes a project that still has the version, with its history, and no other', async () => {
      const [project, other] = [await kept(), await kept()];
      const next = updated(project);
      await projects.replace(project, next);
      expect(await projects.remove(project)).toBe(false);
      expect(await projects.find(team.id, project.id)).toEqual(next);
      expect(await projects.remove(next)).toBe(true);
      expect(await projects.remove(next)).toBe(false);
      expect(await projects.find(team.id, project.id)).toBeNull();
      expect(await projects.versions(project.id, { limit: 9, before: null })).toEqual([]);
      expect(await projects.find(team.id, other.id)).toEqual(other);
    });
  });
}

function parsed(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
