import type { RuntimeConnection } from '../../../src/application/chat/ports.js';
import type { Model } from '../../../src/domain/workspace/model.js';
import { atOnce } from '../../support/barrier.js';
import { aConnection, aModel, aProject, ids } from '../../support/records.js';
import { type StockedStore, type StoreUnderTest, stocked } from '../../support/repositories.js';

export function runtimeConnectionsContract(adapter: string, store: StoreUnderTest) {
  describe(`RuntimeConnections in ${adapter}`, () => {
    let stock: StockedStore;
    let connections: StockedStore['connections'];
    let projectId: string;
    let models: readonly [Model, Model];
    /** A connection of another project, with the desired state `started`. */
    let other: RuntimeConnection;

    beforeEach(async () => {
      stock = await stocked(store);
      ({ connections } = stock);
      const { project, otherProject } = stock;
      projectId = project.id;
      models = [await stock.models.addOnce(aModel(project)), await stock.models.addOnce(aModel(project))];
      const { id: modelId } = await stock.models.addOnce(aModel(otherProject));
      other = aConnection({ projectId: otherProject.id, modelId, desired: 'started' });
      await connections.save(other);
    });

    const connection = (over: Partial<RuntimeConnection> = {}): RuntimeConnection =>
      aConnection({ projectId, modelId: models[0].id, ...over });

    it('stores one connection for a project, exactly as it was saved last', async () => {
      expect(await connections.find(projectId)).toBeNull();
      const [first, second] = models.map(({ id }) => id) as [string, string];
      const all = [
        connection({ desired: 'started' }),
        connection({ fallbacks: [second] }),
        connection({
          split: [
            { modelId: first, weight: 9 },
            { modelId: second, weight: 0.5 },
          ],
        }),
        connection({ modelId: second }),
      ];
      for (const one of all) {
        await connections.save(one);
        expect(await connections.find(projectId)).toEqual(one);
        expect((await connections.ofProject(stock.team.id, projectId))?.connection).toEqual(one);
      }
      expect(await connections.find(other.projectId)).toEqual(other);
      expect(await connections.find(ids.next('prj'))).toBeNull();
    });

    it('stores one of several concurrent connections as a whole', async () => {
      const rivals = models.flatMap(({ id: modelId }) => [
        connection({ modelId, desired: 'started' }),
        connection({ modelId, desired: 'stopped' }),
      ]);
      await atOnce(8, (party) => connections.save(rivals[party % 4] as RuntimeConnection));
      expect(rivals).toContainEqual(await connections.find(projectId));
    });

    it('changes the desired state of a stored connection, and adds no connection', async () => {
      expect(await connections.setDesired(projectId, 'started')).toBe(false);
      expect(await connections.find(projectId)).toBeNull();
      await connections.save(connection({ modelId: models[1].id }));
      for (const desired of ['started', 'started', 'stopped'] as const) {
        expect(await connections.setDesired(projectId, desired)).toBe(true);
        expect(await connections.find(projectId)).toEqual(connection({ modelId: models[1].id, desired }));
      }
    });

    it('finds the connections of the given projects', async () => {
      await connections.save(connection());
      expect(await connections.ofProjects([other.projectId, ids.next('prj')])).toEqual([other]);
      const both = await connections.ofProjects([projectId, other.projectId]);
      expect(new Set(both)).toEqual(new Set([connection(), other]));
      expect(await connections.ofProjects([])).toEqual([]);
    });

    it('lists the connected projects of a team in any desired state, newest first', async () => {
      const { project, otherProject, team, otherTeam } = stock;
      expect(otherProject.teamId).toBe(team.id);
      await connections.save(connection());
      const newestFirst = [project, otherProject].sort((a, b) => (a.id < b.id ? 1 : -1));
      const listed = newestFirst.map(({ id, createdAt }) => ({ id, name: id, createdAt })); // both have the same name
      expect(await connections.connectedProjects(team.id)).toEqual(listed);
      expect(await connections.connectedProjects(otherTeam.id)).toEqual([]);
    });

    it("returns the connection (or null) of a team's project, and null for a project that the team does not have", async () => {
      const { team, otherTeam } = stock;
      const reads = [connections.ofProject.bind(connections), connections.ofModel.bind(connections)];
      for (const read of reads)
        expect(await read(team.id, projectId)).toEqual({
          projectId,
          hasBudgets: false,
          record: null,
          connection: null,
        });
      await connections.save(connection());
      for (const read of reads) {
        expect(await read(team.id, projectId)).toEqual({
          projectId,
          hasBudgets: false,
          record: null,
          connection: connection(),
        });
        expect(await read(otherTeam.id, projectId)).toBeNull();
        expect(await read(team.id, ids.next('prj'))).toBeNull();
      }
    });

    it('returns what the spec of the project says about records of its calls', async () => {
      const record = { share: 0.5, mask: [{ name: 'own', pattern: 'é"' }] };
      const project = { ...aProject(stock.team), name: 'Kept', spec: { record, other: 1 } };
      await stock.projects.add(project);
      expect(await connections.ofProject(stock.team.id, project.id)).toMatchObject({ record });
      expect(await connections.ofModel(stock.team.id, 'Kept')).toMatchObject({ record });
    });

    it("finds a project as a model by its id, or else by a name that only one of the team's projects has", async () => {
      const { team, otherTeam, projects } = stock;
      const add = async (name: string, owner = team) => {
        const project = { ...aProject(owner), name };
        await projects.add(project);
        return project;
      };
      const [alone, foreign] = [await add('Alone'), await add('Alone', otherTeam)];
      expect(await connections.ofModel(team.id, 'Alone')).toEqual({
        projectId: alone.id,
        hasBudgets: false,
        record: null,
        connection: null,
      });
      expect(await connections.ofModel(otherTeam.id, 'Alone')).toEqual({
        projectId: foreign.id,
        hasBudgets: false,
        record: null,
        connection: null,
      });
      await add('Twin');
      await add('Twin');
      for (const name of ['Twin', 'alone', '']) expect(await connections.ofModel(team.id, name)).toBeNull();
      expect(await connections.ofProject(team.id, 'Alone')).toBeNull();
      await add(projectId);
      await add(foreign.id);
      expect(await connections.ofModel(team.id, projectId)).toEqual({
        projectId,
        hasBudgets: false,
        record: null,
        connection: null,
      });
      expect((await connections.ofModel(team.id, foreign.id))?.projectId).not.toBe(foreign.id);
    });

    it('lists the connections of all teams with the desired state `started`', async () => {
      await connections.save(connection());
      expect(await connections.started()).toEqual([other]);
      await connections.setDesired(projectId, 'started');
      const started = connection({ desired: 'started' });
      expect(new Set(await connections.started())).toEqual(new Set([other, started]));
      expect(await connections.remove(other.projectId)).toBe(true);
      expect(await connections.remove(other.projectId)).toBe(false);
      expect(await connections.find(other.projectId)).toBeNull();
      expect(await connections.started()).toEqual([started]);
    });
  });
}
