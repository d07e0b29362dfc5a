import type { RuntimeConnection } from '../../../src/application/chat/ports.js';
import type { Model } from '../../../src/domain/workspace/model.js';
import type { Project } from '../../../src/domain/workspace/project.js';
import { atOnce } from '../../support/barrier.js';
import { aModel, aProject, aTeam, ids } from '../../support/records.js';
import type { Repositories, StoreUnderTest } from '../../support/repositories.js';

export function runtimeConnectionsContract(adapter: string, store: StoreUnderTest) {
  describe(`RuntimeConnections kept by ${adapter}`, () => {
    let repositories: Repositories;
    let connections: Repositories['connections'];
    let project: Project;
    let models: readonly [Model, Model];

    beforeEach(async () => {
      repositories = await store.open();
      ({ connections } = repositories);
      [project, models] = await aProjectWithModels();
    });

    const aProjectWithModels = async (): Promise<[Project, readonly [Model, Model]]> => {
      const team = aTeam();
      const own = aProject(team);
      await repositories.teams.add(team);
      await repositories.projects.add(own);
      const add = () => repositories.models.addOnce(aModel(own));
      return [own, [await add(), await add()]];
    };
    const connection = (over: Partial<RuntimeConnection> = {}): RuntimeConnection => ({
      projectId: project.id,
      modelId: models[0].id,
      desired: 'stopped',
      ...over,
    });

    it('gives back exactly the connection that was saved', async () => {
      expect(await connections.find(project.id)).toBeNull();
      await connections.save(connection());
      expect(await connections.find(project.id)).toEqual(connection());
      expect(await connections.find(ids.next('prj'))).toBeNull();
    });

    it('replaces the only connection of a project', async () => {
      await connections.save(connection({ desired: 'started' }));
      const next = connection({ modelId: models[1].id, desired: 'stopped' });
      await connections.save(next);
      expect(await connections.find(project.id)).toEqual(next);
      expect(await connections.started()).toEqual([]);
    });

    it('keeps one connection, whole, of many that are saved at once', async () => {
      const rivals = models.flatMap(({ id: modelId }) => [
        connection({ modelId, desired: 'started' }),
        connection({ modelId, desired: 'stopped' }),
      ]);
      await atOnce(8, (party) => connections.save(rivals[party % 4] as RuntimeConnection));
      expect(rivals).toContainEqual(await connections.find(project.id));
    });

    it('changes the desired state, whichever model is connected by now', async () => {
      await connections.save(connection());
      await connections.save(connection({ modelId: models[1].id }));
      expect(await connections.setDesired(project.id, 'started')).toBe(true);
      expect(await connections.find(project.id)).toEqual(connection({ modelId: models[1].id, desired: 'started' }));
      expect(await connections.setDesired(project.id, 'started')).toBe(true);
      expect(await connections.setDesired(project.id, 'stopped')).toBe(true);
      expect(await connections.find(project.id)).toEqual(connection({ modelId: models[1].id }));
    });

    it('says where there is no connection of which something could be wanted, and makes none', async () => {
      expect(await connections.setDesired(project.id, 'started')).toBe(false);
      expect(await connections.find(project.id)).toBeNull();
    });

    it('finds those of the projects named', async () => {
      const [otherProject, [otherModel]] = await aProjectWithModels();
      const other = connection({ projectId: otherProject.id, modelId: otherModel.id });
      await connections.save(connection());
      await connections.save(other);
      expect(await connections.ofProjects([otherProject.id, ids.next('prj')])).toEqual([other]);
      const both = await connections.ofProjects([project.id, otherProject.id]);
      expect(both).toHaveLength(2);
      expect(both).toEqual(expect.arrayContaining([connection(), other]));
      expect(await connections.ofProjects([])).toEqual([]);
    });

    it('finds whose a project is and what it has, and tells no connection from no project', async () => {
      const { teamId } = project;
      expect(await connections.ofProject(project.id)).toEqual({ teamId, connection: null });
      const started = connection({ desired: 'started' });
      await connections.save(started);
      expect(await connections.ofProject(project.id)).toEqual({ teamId, connection: started });
      const [other] = await aProjectWithModels();
      expect(await connections.ofProject(other.id)).toEqual({ teamId: other.teamId, connection: null });
      expect(await connections.ofProject(ids.next('prj'))).toBeNull();
    });

    it('removes a connection, and tells whether there was one', async () => {
      await connections.save(connection({ desired: 'started' }));
      expect(await connections.remove(project.id)).toBe(true);
      expect(await connections.find(project.id)).toBeNull();
      expect(await connections.started()).toEqual([]);
      expect(await connections.remove(project.id)).toBe(false);
    });

    it('lists what is desired to run, of every team', async () => {
      const [otherProject, [otherModel]] = await aProjectWithModels();
      const [idleProject, [idleModel]] = await aProjectWithModels();
      const other = connection({ projectId: otherProject.id, modelId: otherModel.id, desired: 'started' });
      await connections.save(connection());
      await connections.save(other);
      await connections.save(connection({ projectId: idleProject.id, modelId: idleModel.id }));
      expect(await connections.started()).toEqual([other]);
      await connections.setDesired(project.id, 'started');
      const all = await connections.started();
      expect(all).toHaveLength(2);
      expect(all).toEqual(expect.arrayContaining([other, connection({ desired: 'started' })]));
      await connections.remove(otherProject.id);
      expect(await connections.started()).toEqual([connection({ desired: 'started' })]);
    });
  });
}
